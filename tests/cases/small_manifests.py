"""Small manifests of several kinds of evidence, with SLUG and what else is in capitals to be filled in."""

EPISODES = """
schema_version: 1
slug: SLUG
title: Same
evidence: episodes
episodes: {entrant: model, task: subject, item: [question], seed: seed, condition: arm, conditions: [x, y]}
metrics: {correct: {direction: maximize, min: 0, max: 1}, cost: {direction: minimize, min: 0}}
tasks: [{id: algebra}, {id: geometry}]
grid: {seeds: [0, 1, 2, 3, 4], items: 6, conditions: [x, y]}
leaderboards:
  - {name: mean, method: estimate, metrics: [correct, cost], statistic: mean, quantiles: {cost: [0.5]}}
  - {name: iqm, method: estimate, metrics: [correct, cost], statistic: iqm, rank_by: cost}
"""
TASKS = """
schema_version: 1
slug: SLUG
title: Same
evidence: evaluation_summary
metrics: {error: {direction: minimize, min: 0}}
tasks: TASKS
leaderboards:
  - {name: mean, method: mean, metric: error}
  - {name: rank, method: mean_rank, metric: error}
  - {name: wins, method: mean_win_rate, metric: error}
  - {name: borda, method: borda, metric: error}
  - {name: skill, method: skill_score, metric: error, baseline: m0}
"""
PREDICTED = """
schema_version: 1
slug: SLUG
title: Same
evidence: predictions
predictions: {PART, labels: public}
metrics: {METRICS}
tasks: [{id: t}]
leaderboards: [{name: board, method: estimate, metrics: [NAMES]}]
"""
