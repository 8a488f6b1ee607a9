#!/usr/bin/env python3
"""Apache Otava on the years of the campaign, night after night, as its users would run it.

    pip install apache-otava
    mkdir years; ASSAY_CAMPAIGN_EXPORT=$PWD/years ASSAY_CAMPAIGN_ROWS="3 %, 0.3" make campaign SEEDS=20 ONLY=years
    python3 crates/assay-watch/tests/campaign_years/otava_years.py years [MOST_YEARS_A_ROW]

After each night all figures are analysed with Otava's own defaults (windows of 50, p <= 0.001, any size), and once more with the
least size of this watch (5 % of a rate, 20 % of a latency). An alarm is a change for the worse that was not among the changes of
the nights before, give or take five nights. Alarms of a medium within 14 days are one. A change is found in time where an alarm
comes within the nights that the row allows. "By chance" is the share of spans of that length before the change, or in years of
nothing, that have an alarm, too. Intervals are exact, 95 %.

Two things save time and change no result: a window that is full has the same changes in all nights after it, so it is analysed
once; and Student's test is the formula alone, without what scipy looks at before it.
"""
import csv
import math
import os
import sys
from collections import defaultdict
from copy import copy

import otava.analysis
from otava.change_point_divisive.detector import ChangePointDetector
from scipy.special import stdtr
from scipy.stats import beta, chi2

NIGHTS = 365
WINDOW = 50
MOST_P = 0.001
RULES = {"defaults": (0.0, 0.0), "least size": (0.05, 0.20)}


class Remembered(ChangePointDetector):
    """Otava's detector of one series, which does not analyse a full window again."""

    full = {}

    def get_change_points(self, series, start=None, end=None):
        if end - start < WINDOW:
            return super().get_change_points(series, start, end)
        if start not in self.full:
            self.full[start] = super().get_change_points(series, start, end)
        return [copy(change) for change in self.full[start]]


def students(mean_1, deviation_1, n_1, mean_2, deviation_2, n_2, **_):
    """What `scipy.stats.ttest_ind_from_stats` returns."""
    freedom = n_1 + n_2 - 2
    variance = ((n_1 - 1) * deviation_1**2 + (n_2 - 1) * deviation_2**2) / freedom
    error = math.sqrt(variance * (1 / n_1 + 1 / n_2))
    if not error:
        return math.nan, 0.0 if mean_1 != mean_2 else math.nan
    t = (mean_1 - mean_2) / error
    return t, 2 * stdtr(freedom, -abs(t))


otava.analysis.ChangePointDetector = Remembered
otava.analysis.ttest_ind_from_stats = students


def alarms(values, rate):
    """The nights in which a new change for the worse is found, for each rule."""
    Remembered.full = {}
    known, found = defaultdict(list), defaultdict(list)
    for night in range(10, len(values) + 1):
        # These two are what Otava's `compute_change_points` does.
        weak = otava.analysis.split(values[:night], WINDOW, 10 * MOST_P)
        for rule, least in RULES.items():
            for change in otava.analysis.merge(list(weak), values[:night], MOST_P, least[0 if rate else 1]):
                moved = change.stats.forward_rel_change()
                if all(abs(change.index - other) > 5 for other in known[rule]):
                    if (moved < 0) == rate:
                        found[rule].append(night - 1)
                known[rule].append(change.index)
    return found


class Row:
    """What a rule does with the years of a row."""

    def __init__(self):
        self.years = self.false = self.found = self.spans = self.spans_with = 0
        self.exposed = 0.0

    def take(self, found, change, within):
        told = []
        for day in sorted(found):
            if not told or day - told[-1] > 14:
                told.append(day)
        self.years += 1
        self.false += sum(day < change for day in told)
        self.exposed += min(change, NIGHTS) / NIGHTS
        self.found += any(change <= day < change + within for day in found)
        for first in range(10, change - within + 1, within) if within else ():
            self.spans += 1
            self.spans_with += any(first <= day < first + within for day in found)

    def columns(self):
        low = chi2.ppf(0.025, 2 * self.false) / 2 if self.false else 0.0
        high = chi2.ppf(0.975, 2 * self.false + 2) / 2
        rate = f"{self.false / self.exposed:.2f} ({low / self.exposed:.2f}–{high / self.exposed:.2f})"
        return f"{self.years} | {rate} | {share(self.found, self.years if self.spans else 0)} | {share(self.spans_with, self.spans)}"


def share(hits, n):
    if not n:
        return "–"
    low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return f"{100 * hits / n:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def main():
    most = int(sys.argv[2]) if len(sys.argv) > 2 else sys.maxsize
    rows = defaultdict(lambda: defaultdict(Row))
    years = defaultdict(list)
    for name in os.listdir(sys.argv[1]):
        row, change, within, seed = name.removesuffix(".csv").rsplit("@", 3)
        years[row].append((int(seed), int(change), int(within), name))
    for row, of_row in sorted(years.items()):
        for _, change, within, name in sorted(of_row)[:most]:
            with open(os.path.join(sys.argv[1], name), encoding="ascii") as file:
                nights = list(csv.DictReader(file))
            days = [int(night["day"]) for night in nights]
            found = defaultdict(set)
            for figure in [key for key in nights[0] if key != "day"]:
                values = [float(night[figure]) for night in nights]
                for rule, at in alarms(values, figure.startswith("r")).items():
                    found[rule].update(days[night] for night in at)
            for rule in RULES:
                rows[row][rule].take(found[rule], change, within)
    print("| row | rule | years | false alarms a medium and year | found in time | by chance |\n| --- | --- | --: | --- | --- | --- |")
    for row, rules in rows.items():
        for rule, result in rules.items():
            print(f"| {row} | {rule} | {result.columns()} |")


if __name__ == "__main__":
    main()
