      <Code title="hdparm -t medir velocidad">{`$ sudo hdparm -t /dev/sda

/dev/sda:
 Timing buffered disk reads: 188 MB in 3.02 seconds = 62.25 MB/sec`}</Code>
