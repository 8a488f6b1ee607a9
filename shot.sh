# name -> chromium screenshot in colour and grey
n=$1; [ -f $n.svg ] || exit; H=$(grep -o 'height="[0-9]*"' $n.svg | head -1 | tr -dc 0-9); W=$(grep -o 'width="[0-9]*"' $n.svg | head -1 | tr -dc 0-9)
echo "<body style='margin:0;background:#101316'>$(cat $n.svg)<div style='filter:grayscale(1)'>$(cat $n.svg)</div></body>" > $n.html
timeout 40 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=$W,$((H*2+10)) --screenshot=$n.shot.png $n.html >/dev/null 2>&1
