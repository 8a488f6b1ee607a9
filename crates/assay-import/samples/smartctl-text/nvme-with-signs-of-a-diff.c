/*
# nvme smart-log /dev/nvme2n1 --- the dead one
Smart Log for NVME device:nvme2n1 namespace-id:ffffffff
+critical_warning                    : 0x1
+temperature                         : 41 C
+available_spare                     : 4%
+available_spare_threshold           : 10%
+percentage_used                     : 31%
+data_units_read                     : 17,425,264
+data_units_written                  : 1,436,283,199
+host_read_commands                  : 2,880,168,289
+host_write_commands                 : 16,429,446,049
-controller_busy_time                : 12,751
-power_cycles                        : 31
-power_on_hours                      : 11,453
-unsafe_shutdowns                    : 12
-media_errors                        : 0
-num_err_log_entries                 : 9
