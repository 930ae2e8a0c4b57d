//! `metier completions`: a script for each shell, which asks `metier __complete` when somebody presses Tab.
//!
//! The program decides what may come next, so a script stays right when commands and skills change. Whatever
//! goes wrong, a script is silent. A line that is a tab and `files` stands for the files that the shell itself knows.

use crate::args::ShellName;
use crate::failure::OK;
use crate::output::Output;

const BASH: &str = r#"# Completes metier in Bash.
_metier() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == $'\tfiles' ]]; then
            compopt -o default 2>/dev/null
        else
            COMPREPLY+=("$line")
        fi
    done < <(command metier __complete bash --current="$2" -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _metier metier
"#;

const ZSH: &str = r#"#compdef metier
# Completes metier in Zsh.
_metier() {
    local line
    local -a found
    while IFS= read -r line; do
        if [[ $line == $'\tfiles' ]]; then
            _files
        else
            found+=("$line")
        fi
    done < <(command metier __complete zsh --current="${(Q)PREFIX}" -- "${(@Q)words[1,CURRENT-1]}" 2>/dev/null)
    (( $#found )) && _describe -V metier found
}
if [[ ${funcstack[1]} == _metier ]]; then
    _metier "$@"
else
    compdef _metier metier
fi
"#;

const FISH: &str = r#"# Completes metier in fish.
function __metier_complete
    set -l current (commandline -ct)
    for line in (command metier __complete fish --current="$current" -- (commandline -opc) 2>/dev/null)
        if test "$line" = \tfiles
            __fish_complete_path "$current"
        else
            printf '%s\n' $line
        end
    end
end
complete -c metier -f -a '(__metier_complete)'
"#;

const POWERSHELL: &str = r#"# Completes metier in PowerShell.
Register-ArgumentCompleter -Native -CommandName metier -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($_.Value -is [string]) { $_.Value } else { $_.ToString() } })
    & (Get-Command metier -CommandType Application -ErrorAction Ignore) __complete powershell "--current=$wordToComplete" -- @before 2>$null |
        Where-Object { $_ -ne "`tfiles" } |
        ForEach-Object {
            $text, $shown, $help = $_ -split "`t", 3
            [System.Management.Automation.CompletionResult]::new($text, $shown, 'ParameterValue', $help)
        }
}
"#;

const ELVISH: &str = r#"# Completes metier in Elvish.
set edit:completion:arg-completer[metier] = {|@words|
    var before = $words[..-1]
    try {
        e:metier __complete elvish --current=$words[-1] -- $@before 2>/dev/null | from-lines | each {|line|
            if (eq $line "\tfiles") {
                edit:complete-filename $words[-1]
            } else {
                put $line
            }
        }
    } catch _ { nop }
}
"#;

/// Prints the script of a shell.
pub(in crate::commands) fn completions(shell: ShellName, output: Output) -> u8 {
    output.print(match shell {
        ShellName::Bash => BASH,
        ShellName::Zsh => ZSH,
        ShellName::Fish => FISH,
        ShellName::Powershell => POWERSHELL,
        ShellName::Elvish => ELVISH,
    });
    OK
}
