"""Reads lines `life SET TIME CAUSE GROUP STRATUM` and prints what lifelines says of each set: `value SET WHAT TIME FIGURE`."""
import sys
import warnings

import pandas as pd
from lifelines import AalenJohansenFitter, KaplanMeierFitter
from lifelines.statistics import logrank_test

warnings.simplefilter("ignore")
names = ["word", "set", "time", "cause", "group", "stratum"]
everything = pd.read_csv(sys.stdin, sep=" ", names=names)


def out(number, what, time, value):
    if value == value:
        print("value %d %s %.17g %.17g" % (number, what, time, value))


for number, one in everything.groupby("set"):
    failed = one.cause > 0
    curve = KaplanMeierFitter().fit(one.time, failed)
    share = curve.survival_function_["KM_estimate"]
    ends = curve.confidence_interval_survival_function_
    for time, value in share.items():
        out(number, "share", time, value)
        if 1e-9 < value < 1 - 1e-9:
            out(number, "low", time, ends.loc[time].iloc[0])
            out(number, "high", time, ends.loc[time].iloc[1])
    # Whether a half is reached must not hang on the last digit.
    if curve.median_survival_time_ < float("inf") and (abs(share - 0.5) > 1e-9).all():
        out(number, "median", 0, curve.median_survival_time_)
    # It moves equal times apart by chance, so only sets without them can be compared.
    if one.time.is_unique:
        for cause in (1, 2):
            if not (one.cause == cause).any():
                continue
            states = AalenJohansenFitter(calculate_variance=True).fit(one.time, one.cause, event_of_interest=cause)
            for time, value in states.cumulative_density_.iloc[:, 0].items():
                out(number, f"cause{cause}", time, value)
            for time, value in states.variance_.items():
                out(number, f"cause_variance{cause}", time, value)
    if one.stratum.nunique() == 1:
        first, second = one[one.group == 0], one[one.group == 1]
        test = logrank_test(first.time, second.time, first.cause > 0, second.cause > 0)
        if test.test_statistic == test.test_statistic:
            out(number, "log_rank", 0, test.test_statistic)
