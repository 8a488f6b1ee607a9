#!/usr/bin/env python3
"""Apache Otava on the years of the campaign, night after night, as its users would run it.

    pip install apache-otava
    mkdir years; ASSAY_CAMPAIGN_EXPORT=$PWD/years ASSAY_CAMPAIGN_ROWS="3 %, 0.3" make campaign SEEDS=20 ONLY=years
    python3 crates/assay-watch/tests/campaign_years/otava_years.py years

After each night all figures are analysed with Otava's own defaults (windows of 50, p <= 0.001, any size), and once more with the
least size of this watch (5 % of a rate, 20 % of a latency). An alarm is a change for the worse that was not among the changes of
the nights before, give or take five nights. Alarms of a medium within 14 days are one.
"""
import csv
import os
import sys
from collections import defaultdict

from otava.analysis import compute_change_points

NIGHTS = 365


def alarms(values, rate, least):
    """The nights in which a new change for the worse is found."""
    known, found, weak = [], [], None
    for night in range(10, len(values) + 1):
        new = {} if weak is None else {"new_data": 1, "old_weak_cp": weak}
        changes, weak = compute_change_points(values[:night], min_magnitude=least, **new)
        for change in changes:
            moved = change.stats.forward_rel_change()
            if all(abs(change.index - other) > 5 for other in known):
                if (moved < 0) == rate:
                    found.append(night - 1)
            known.append(change.index)
    return found


def main():
    rows = defaultdict(lambda: defaultdict(lambda: [0, 0.0, 0, 0]))
    for name in sorted(os.listdir(sys.argv[1])):
        row, change, within, _ = name.rsplit("@", 3)
        change, within = int(change), int(within)
        with open(os.path.join(sys.argv[1], name), encoding="ascii") as file:
            nights = list(csv.DictReader(file))
        days = [int(night["day"]) for night in nights]
        for rule, least in (("defaults", (0.0, 0.0)), ("least size", (0.05, 0.20))):
            found = set()
            for figure in [key for key in nights[0] if key != "day"]:
                values = [float(night[figure]) for night in nights]
                rate = figure.startswith("r")
                found.update(days[at] for at in alarms(values, rate, least[0 if rate else 1]))
            told = []
            for day in sorted(found):
                if not told or day - told[-1] > 14:
                    told.append(day)
            count = rows[row][rule]
            count[0] += sum(day < change for day in told)
            count[1] += min(change, NIGHTS) / NIGHTS
            count[2] += any(change <= day < change + within for day in found)
            count[3] += 1
    print("| row | rule | years | false alarms a medium and year | found in time |\n| --- | --- | --: | --- | --- |")
    for row, rules in rows.items():
        for rule, (false, exposed, found, years) in rules.items():
            print(f"| {row} | {rule} | {years} | {false} in {exposed:.1f} years: {false / exposed:.2f} | {found} of {years} |")


if __name__ == "__main__":
    main()
