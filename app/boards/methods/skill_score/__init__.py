"""The method `skill_score`: errors relative to a baseline's, as in fev."""
