"""Columns as a data frame of the kind that is asked for: pandas or polars, each imported when it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

PANDAS, POLARS = "pandas", "polars"
KINDS = {PANDAS: "frames", POLARS: "polars"}  # and the extra that brings each
REMEDY = f"Write one of {', '.join(KINDS)}."


def to_pandas(columns: Mapping[str, Any]) -> pd.DataFrame:
    """The columns as a pandas frame; moments (datetime64) are in UTC, and what is not known is missing."""
    pandas = library(PANDAS)

    def series(values: Any) -> Any:
        array = np.asarray(values)
        return pandas.Series(array).dt.tz_localize("UTC") if array.dtype.kind == "M" else array

    found: pd.DataFrame = pandas.DataFrame({name: series(values) for name, values in columns.items()})
    return found


def to_polars(columns: Mapping[str, Any]) -> pl.DataFrame:
    """The same as a polars frame."""
    polars = library(POLARS)

    def series(name: str, values: Any) -> Any:
        array = np.asarray(values)
        if array.dtype == object or array.dtype.kind == "U":
            return polars.Series(name, array.tolist(), dtype=polars.String)
        found = polars.Series(name, array, nan_to_null=array.dtype.kind == "f")
        return found.dt.replace_time_zone("UTC") if array.dtype.kind == "M" else found

    found: pl.DataFrame = polars.DataFrame([series(name, values) for name, values in columns.items()])
    return found


def frame_from(columns: Mapping[str, Any], kind: str = PANDAS) -> Any:
    """The columns as a frame of this kind."""
    if kind not in KINDS:
        raise InvalidInput("kind", kind, "is no known kind of data frame", REMEDY)
    return to_pandas(columns) if kind == PANDAS else to_polars(columns)


def library(kind: str) -> Any:
    """The package that makes frames of this kind."""
    try:
        return import_module(kind)
    except ImportError:
        raise MissingExtra(kind, KINDS[kind]) from None


def is_frame(thing: object) -> bool:
    """Whether this is a data frame, of whichever of the two kinds."""
    home = type(thing).__module__.partition(".")[0]
    return home in KINDS and hasattr(thing, "columns")


def columns_in(field: str, frame: Any, needed: Sequence[str], remedy: str) -> dict[str, Any]:
    """These columns of a frame, as arrays; one that is not there is refused by name."""
    there = [str(name) for name in frame.columns]
    missing = [name for name in needed if name not in there]
    if missing:
        raise InvalidInput(field, there, f"has no column {', '.join(map(repr, missing))}", remedy)
    return {name: frame[name].to_numpy() for name in needed}
