"""Read fev's given result files into a ScoreTable, without the server's own reader."""

from pathlib import Path

import numpy as np
import pandas as pd

from app.values.scores import OVERLAP_UNSAID, Coded, ScoreTable

FEV = Path(__file__).parents[1] / "data" / "fev"
QUANTITIES = {
    "training_time_s": "training_time_s",
    "inference_time_s": "inference_time_s",
    "n_forecasts": "num_forecasts",
}


def fev_scores() -> ScoreTable:
    """Return the 2,985 rows of 30 models on 100 tasks."""
    frame = pd.concat([pd.read_csv(path) for path in sorted((FEV / "results").glob("*.csv"))], ignore_index=True)
    return to_scores(frame, ["SQL", "MASE", "WQL", "WAPE"])


def to_scores(frame: pd.DataFrame, metrics: list[str]) -> ScoreTable:
    """Turn a frame with fev's column names into a ScoreTable."""
    columns = [*metrics, *QUANTITIES]
    names = [*metrics, *QUANTITIES.values()]
    unsaid = frame["trained_on_this_dataset"].isna()
    if unsaid.any():
        frame = frame.assign(unsaid=np.where(unsaid, 1.0, np.nan))
        columns, names = [*columns, OVERLAP_UNSAID], [*names, "unsaid"]
    return ScoreTable(
        entrant=code(frame["model_name"]),
        task=code(frame["task_name"]),
        columns=tuple(columns),
        values=frame[names].to_numpy(dtype=np.float64),
        leaked=frame["trained_on_this_dataset"].eq(True).to_numpy(dtype=bool),
        file=np.zeros(len(frame), dtype=np.int64),
        row=np.arange(2, len(frame) + 2),
    )


def code(texts: "pd.Series[str]") -> Coded:
    """Code a column of text by its sorted words."""
    words, codes = np.unique(texts.to_numpy(dtype=str), return_inverse=True)
    return Coded(tuple(str(word) for word in words), codes.astype(np.int64))
