"""Ranking method `estimate`: metrics with their intervals, ranked by one of them; each entrant is measured apart.

What an entrant's evidence comes to is the kind's; how measurements become a board
is in `boards.estimate.board`.
"""

from app.boards.measured import MeasuredMethod
from app.boards.methods.estimate.board import assemble_board
from app.boards.methods.estimate.spec import EstimateBoard

METHOD = MeasuredMethod(EstimateBoard, assemble_board)
