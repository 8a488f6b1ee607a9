postmark small.conf
#-------------------------------------------------------------------------------
# Time:
#       61.2044 seconds total
#       2.5110 seconds of transactions (199.12 per second)
#
# Files:
#       5251 created (85.79 per second)
#               Creation alone: 5000 files (121.33 per second)
#               Mixed with transactions: 251 files (99.96 per second)
#       249 read (99.16 per second)
#       0 appended (0.00 per second)
#       5251 deleted (85.79 per second)
#               Deletion alone: 5002 files (286.04 per second)
#               Mixed with transactions: 249 files (99.16 per second)
#
# Data:
#       0.31 megabytes read (5.19 kilobytes per second)
#       6.52 megabytes written (109.08 kilobytes per second)
#-------------------------------------------------------------------------------
