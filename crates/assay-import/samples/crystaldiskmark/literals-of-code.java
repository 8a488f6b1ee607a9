public class Conversion {
	public static void main(String[] args) {
		String s = "------------------------------------------------------------------------------\r\n" + 
				"CrystalDiskMark 7.0.0 x64 (C) 2007-2019 hiyohiyo Crystal Dew World: https://crystalmark.info/\r\n" + 
				"------------------------------------------------------------------------------\r\n" + 
				"* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\r\n" + 
				"* KB = 1000 bytes, KiB = 1024 bytes\r\n" + 
				"\r\n" + 
				"[Read]\r\nSequential 1MiB (Q=  8, T= 1):   104.858 MB/s [    100.0 IOPS] < 79000.32 us>\r\n" + 
				"    Random 4KiB (Q=  1, T= 1):     0.410 MB/s [    100.1 IOPS] <  9983.33 us>\r\n" + 
				"\r\n" + 
				"[Write]\r\n" + 
				"Sequential 1MiB (Q=  8, T= 1):    83.886 MB/s [     80.0 IOPS] < 98668.80 us>\r\n" + 
				"    Random 4KiB (Q=  1, T= 1):     0.819 MB/s [    200.0 IOPS] <  4992.49 us>\r\n" + 
				"\r\n" + 
				"Profile: Default\r\n" + 
				"   Test: 1 GiB (x5) [Interval: 5 sec] <DefaultAffinity=DISABLED>\r\n" + 
				"   Date: 2020/01/03 11:44:51\r\n" + 
				"     OS: Windows 10  [10.0 Build 18363] (x64)\r\n" + 
				"\r\n";
		s = s.replace("\r\n", "");
	}
}
