#!/bin/sh
# The program on consoles of Windows, by wine: what is pressed there, and what is coloured. Called by tests/windows.sh, which
# sets wine up, after tests/windows-program.sh, which builds the program.
set -eu
cd "$(dirname "$0")/.."
work=target/windows-console
. tests/windows-checks.sh
export ASSAY_DATA="$data"

# Starts a program on a console of its own, and presses keys there as soon as something lies in a directory:
#   press.exe c|b TIMES MILLISECONDS DIRECTORY PROGRAM ARGUMENT…
# Its exit code is that of the program; 99 where the system refuses, and 98 where nothing was ever in the directory.
cat > $work/press.c << 'C'
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

/* All on the console hear what is pressed. */
static BOOL WINAPI heard(DWORD event) { return event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT; }

static int holds_something(const wchar_t *directory) {
    wchar_t pattern[1024];
    WIN32_FIND_DATAW found;
    int any = 0;
    _snwprintf(pattern, 1023, L"%ls\\*", directory);
    pattern[1023] = 0;
    HANDLE names = FindFirstFileW(pattern, &found);
    if (names == INVALID_HANDLE_VALUE) return 0;
    do any = wcscmp(found.cFileName, L".") && wcscmp(found.cFileName, L"..");
    while (!any && FindNextFileW(names, &found));
    FindClose(names);
    return any;
}

static int fail(const char *what, HANDLE process, int code) {
    fprintf(stderr, "%s: error %lu\n", what, GetLastError());
    if (process) TerminateProcess(process, 1);
    return code;
}

int wmain(int count, wchar_t **words) {
    wchar_t line[4096] = L"";
    STARTUPINFOW start = {sizeof start};
    PROCESS_INFORMATION process;
    DWORD code = 1;
    if (count < 6) return 99;
    for (int i = 5; i < count; i++) {
        size_t length = wcslen(line);
        _snwprintf(line + length, 4095 - length, L"\"%ls\" ", words[i]);
    }
    /* Asked for before there is a console, which has others. */
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    FreeConsole();
    if (!AllocConsole() || !SetConsoleCtrlHandler(heard, TRUE)) return fail("no console", NULL, 99);
    if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) return fail("not started", NULL, 99);
    for (int i = 0; !holds_something(words[4]); i++) {
        if (i == 600) return fail("nothing was made", process.hProcess, 98);
        Sleep(100);
    }
    Sleep(1000);
    for (int i = 0; i < wcstol(words[2], NULL, 10); i++) {
        if (i) Sleep(wcstoul(words[3], NULL, 10));
        if (!GenerateConsoleCtrlEvent(words[1][0] == 'b' ? CTRL_BREAK_EVENT : CTRL_C_EVENT, 0))
            return fail("cannot be pressed", process.hProcess, 99);
    }
    if (WaitForSingleObject(process.hProcess, 60000) != WAIT_OBJECT_0) return fail("it goes on", process.hProcess, 98);
    GetExitCodeProcess(process.hProcess, &code);
    return (int)code;
}
C
x86_64-w64-mingw32-gcc -municode -o $work/press.exe $work/press.c

# Both keys, once, and twice in the same moment, which is one wish: the run ends in good order.
for key in Ctrl-C Ctrl-Break; do
    [ $key = Ctrl-C ] && event=c || event=b
    for times in 1 2; do
        code=0
        timeout 300 "$WINE" $work/press.exe $event $times 100 "$place" $exe run --quiet --suite quick "$place" > $work/said 2>&1 || code=$?
        if [ $code = 99 ]; then
            skip "$key on a console of windows: $(tail -n 1 $work/said | tr -d '\r')"
            rm -rf $work/place/.assay*
            break
        fi
        [ $code = 130 ] && [ "$(grep -c 'the run was interrupted' $work/said)" = 1 ] && [ -z "$(ls -A $work/place)" ] && ok=0 || ok=1
        check "$key, pressed $times times, ends a run with 130 and one line of it, and nothing is left" $ok
        [ $ok = 0 ] || { echo "exit code $code" && cat $work/said && ls -A $work/place; }
    done
done

# Colours where a console is, and only there. What wine itself writes to a terminal are other sequences.
esc=$(printf '\033')
coloured() { tr -d '\r\n' < $work/seen | grep -c "$esc\[[0-9;]*m" || true; }
"$WINE" $exe show last > $work/seen 2> /dev/null
[ -s $work/seen ] && ! grep -q "$esc" $work/seen && ok=0 || ok=1
check "no control sequence comes into a pipe" $ok
if command -v script > /dev/null 2>&1; then
    export WINE
    in_terminal() { TERM=xterm script -qec "\"\$WINE\" $exe show last" $work/seen > /dev/null 2>&1; }
    in_terminal && [ "$(coloured)" = 1 ] && ok=0 || ok=1
    check "a card is coloured on a console" $ok
    NO_COLOR=1 && export NO_COLOR
    in_terminal && [ "$(coloured)" = 0 ] && ok=0 || ok=1
    check "nothing is coloured on a console where NO_COLOR is set" $ok
else
    skip "colours on a console of windows: needs script of util-linux"
fi
[ $failed = 0 ] && word=ok || word=FAILED
echo "test result: $word. $passed passed; $failed failed; 0 ignored"
[ $failed = 0 ]
