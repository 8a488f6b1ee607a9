//winsat disk -drive e
//> Running: Feature Enumeration ''
//> Run Time 00:00 : 00.00
//> Running: Storage Assessment '-drive e -ran -read'
//> Run Time 00:00 : 06.10
//> Dshow Video Encode Time                      0.00000 s
//> Disk  Random 16.0 Read                       2.31 MB / s          4.4
//> Disk  Sequential 64.0 Read                   137.20 MB / s          7.0
//> Disk  Sequential 64.0 Write                  168.44 MB / s          7.2
//> Average Read Time with Sequential Writes     3.102 ms          6.6
//> Latency: 95th Percentile                     17.110 ms          4.9
//> Latency: Maximum                             95.201 ms          7.7
//> Average Read Time with Random Writes         6.240 ms          5.7
//> Total Run Time 00:00 : 31.02
