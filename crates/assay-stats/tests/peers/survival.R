# Reads lines `life SET TIME CAUSE GROUP STRATUM` and prints what the package survival says of each set: `value SET WHAT TIME FIGURE`.
suppressMessages(library(survival))
# Without timefix times that differ in their last digits stay apart.
all <- read.table(file("stdin"), col.names = c("word", "set", "time", "cause", "group", "stratum"))
out <- function(set, what, time, value) {
  good <- is.finite(value)
  if (any(good)) cat(sprintf("value %d %s %.17g %.17g\n", set, what, time[good], value[good]), sep = "")
}
for (one in split(all, all$set)) {
  set <- one$set[1]
  failed <- one$cause > 0
  curve <- survfit(Surv(one$time, failed) ~ 1, conf.type = "log-log", timefix = FALSE)
  out(set, "share", curve$time, curve$surv)
  some <- curve$surv > 0 & curve$surv < 1
  out(set, "error", curve$time[some], (curve$surv * curve$std.err)[some])
  out(set, "low", curve$time[some], curve$lower[some])
  out(set, "high", curve$time[some], curve$upper[some])
  states <- survfit(Surv(one$time, factor(one$cause, levels = 0:2)) ~ 1, timefix = FALSE)
  for (cause in 1:2) {
    out(set, paste0("cause", cause), states$time, states$pstate[, cause + 1])
    out(set, paste0("cause_variance", cause), states$time, states$std.err[, cause + 1]^2)
  }
  test <- try(survdiff(Surv(time, cause > 0) ~ group + strata(stratum), data = one), silent = TRUE)
  if (!inherits(test, "try-error")) out(set, "log_rank", 0, test$chisq)
  if (sum(failed) >= 20) {
    fit <- survreg(Surv(one$time, failed) ~ 1, dist = "weibull",
                   control = survreg.control(rel.tolerance = 1e-15, maxiter = 200))
    out(set, "shape", 0, 1 / fit$scale)
    out(set, "scale", 0, exp(unname(coef(fit))))
    out(set, "likelihood", 0, fit$loglik[1])
  }
}
