"""Ranking method `estimate`: metrics with their intervals, ranked by one of them; each entrant is measured by itself.

The kind of evidence measures each entrant; `.board` turns measurements into a board.
"""

from app.boards.measured import MeasuredMethod
from app.boards.methods.estimate.board import assemble_board
from app.boards.methods.estimate.spec import EstimateBoard

METHOD = MeasuredMethod(EstimateBoard, assemble_board)
