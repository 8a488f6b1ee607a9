    BeforeEach {
        $script:fakeOutput = @(
            "Windows System Assessment Tool",
            "> Disk  Sequential 64.0 Read                       362.12 MB/s          7.0",
            "> Disk  Random 16.0 Read                          1629.46 MB/s          7.9",
            "> Disk  Sequential 64.0 Write                     1537.59 MB/s          7.8",
            "> Latency: 95th Percentile                     0.671 ms          8.0"
        )
    }

    It "takes three speeds" {
        $speeds | Should -Be @("362.12", "1629.46", "1537.59")
    }
