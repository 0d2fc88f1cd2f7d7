"""What a shell would complete, with the files of an installed tree: each is asked without a terminal of ours."""

import re

BASH = """
source /usr/share/bash-completion/bash_completion
line=$1 words=("${@:2}")
_completion_loader "${words[0]}"
COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line}
"$(complete -p "${words[0]}" | sed 's/.* -F \\([^ ]*\\) .*/\\1/')" 2>/dev/null # there is no readline that compopt could tell
printf '%s\\n' "${COMPREPLY[@]}"
"""

# Tab in a shell of zpty's, whose compadd notes what it is given; the line ends as soon as it has been completed.
ZSH = """
zmodload zsh/zpty
zpty inner zsh -f -i
cat >$2/rc <<'END'
PROMPT= fpath=($TREE/share/zsh/site-functions $fpath)
autoload -Uz compinit && compinit -u -d $TREE.zcompdump # of all functions in fpath, which the first shell finds
zstyle ':completion:*' insert-tab false
setopt no_beep
LISTMAX=10000
compadd() {
    local -a found
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] || { builtin compadd -A found "$@"; print -rl -- $found >>$NOTES; }
    builtin compadd "$@"
}
end-here() { exit }
comppostfuncs=(end-here)
bindkey '^I' complete-word
END
zpty -w inner "NOTES=$2/notes; source $2/rc"
zpty -n -w inner "$1"$'\\t'
while zpty -r inner line 2>/dev/null; do :; done
cat $2/notes
"""


class Shell:
    """One of the three, with the programs of the tree in its PATH."""

    def __init__(self, space, name, tree):
        self.space, self.name, self.tree = space, name, tree

    def completes(self, line, env=None):
        """The words that may stand where the line ends; of "--option=word" and "word,word" the last one."""
        result = self.space.start([self.name, *getattr(self, "ask_" + self.name)(line)], env={
            "PATH": f"{self.tree}/bin:/usr/bin:/bin", "XDG_DATA_DIRS": f"{self.tree}/share:/usr/share", "HOME": self.space.directory,
            "TREE": self.tree, "TERM": "dumb", **(env or {})}).wait()
        assert result.status == 0, result
        return {re.split(r"[=,]", word.split("\t")[0])[-1].rstrip("/ ") for word in result.out.splitlines()} - {""}

    def ask_bash(self, line):
        """In words as readline makes them, which may be marks alone."""
        return ["--norc", "-c", BASH, "bash", line, *re.findall(r"[=:]|[^=:\s]+", line), *([""] if line.endswith(" ") else [])]

    def ask_fish(self, line):
        return ["-c", "complete -C $argv[1]", line]

    def ask_zsh(self, line):
        place = self.space.directory / "asked"
        place.mkdir(exist_ok=True)
        (place / "notes").write_text("")
        return ["-f", "-c", ZSH, "zsh", line, place]
