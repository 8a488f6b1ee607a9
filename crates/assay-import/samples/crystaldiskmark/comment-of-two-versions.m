//
// CrystalDiskMark 6.0.2 text output example:
//
// -----------------------------------------------------------------------
// CrystalDiskMark 6.0.2 x64 (C) 2007-2018 hiyohiyo
//                           Crystal Dew World : https://crystalmark.info/
// -----------------------------------------------------------------------
// * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
// * KB = 1000 bytes, KiB = 1024 bytes
//
//
//
//    Sequential Read (Q= 32,T= 1) :   466.120 MB/s
//   Sequential Write (Q= 32,T= 1) :   331.800 MB/s
//   Random Read 4KiB (Q=  8,T= 8) :   390.100 MB/s [  95239.3 IOPS]
//  Random Write 4KiB (Q=  8,T= 8) :   320.055 MB/s [  78138.4 IOPS]
//   Random Read 4KiB (Q=  1,T= 1) :    33.012 MB/s [   8059.6 IOPS]
//  Random Write 4KiB (Q=  1,T= 1) :   131.700 MB/s [  32153.3 IOPS]
//
//   Test : 1024 MiB [C: 26.4% (122.8/465.2 GiB)] (x5)  [Interval=5 sec]
//   Date : 2018/12/15 1:08:36
//     OS : Windows 10  [10.0 Build 17134] (x64)
//

//
// CrystalDiskMark 5.2.0 text output example:
//
// -----------------------------------------------------------------------
// CrystalDiskMark 5.2.0 x64 (C) 2007-2016 hiyohiyo
//                            Crystal Dew World : http://crystalmark.info/
// -----------------------------------------------------------------------
// * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
// * KB = 1000 bytes, KiB = 1024 bytes
//
//    Sequential Read (Q= 32,T= 1) :   141.233 MB/s
//   Sequential Write (Q= 32,T= 1) :    90.100 MB/s
//   Random Read 4KiB (Q= 32,T= 1) :    34.102 MB/s [  8325.7 IOPS]
//          Sequential Read (T= 1) :   155.901 MB/s
//         Sequential Write (T= 1) :    97.204 MB/s
//    Random Read 4KiB (Q= 1,T= 1) :    10.551 MB/s [  2575.9 IOPS]
//   Random Write 4KiB (Q= 1,T= 1) :    15.012 MB/s [  3665.0 IOPS]
//
//   Test : 1024 MiB [E: 0.4% (26.4/7167.0 MiB)] (x5)  [Interval=5 sec]
//   Date : 2016/11/15 20:12:26
//     OS : Windows 10 Professional [10.0 Build 14393] (x64)
//
