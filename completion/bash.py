"""The completion of bash: a function that looks up the program's options in cases of its command."""

from template import fill, function, quote

# In COMP_WORDS "--option=value" is three words, and so is "host:2".
SCRIPT = r"""# Completion of @PROGRAM@ for bash, made from its --help.
@FUNCTION@()
{
    local commands='@COMMANDS@' current=${COMP_WORDS[COMP_CWORD]} i
    local command='' option='' ended='' word words='' place='' first=''
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == = ]]; then
            option=${COMP_WORDS[i - 1]}
        elif [[ $word == : ]]; then
            ((i++))
        elif [[ $option || $ended ]]; then
            option=''
        elif [[ $word == -* ]]; then
            case "$command $word" in
                @TAKING@
            esac
        elif [[ $commands && ! $command ]]; then
            command=$word
        else
            case $command in
                @ENDING@
            esac
        fi
    done
    if [[ $current == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 1]} current=''
    fi
    if [[ $option && ! $ended ]]; then
        case "$command $option" in
            @VALUES@
        esac
    elif [[ $current == -* && ! $ended ]]; then
        case $command in
            @OPTIONS@
        esac
    else
        case $command in
            @WORDS@
        esac
    fi
    case $place in
        files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        several) compopt -o nospace; first=${current%"${current##*,}"} ;;
        ?*) words=$($place 2>/dev/null | sed -n '1d; s/^\([[:alnum:]._-]\{1,\}\)[[:space:]].*/\1/p') ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$first" -W "$words" -- "${current#"$first"}")
}
complete -F @FUNCTION@ @PROGRAM@
"""


def known(value):
    """What the function is to know of a value."""
    words = f"words={quote(' '.join(value.words))}" if value.words else ""
    place = "place=several" if value.words and value.several else f"place={quote(value.place)}" if value.place else ""
    return f"{words} {place}".strip()


def names(command, driver):
    return " ".join(name for option in command.options if option.driver == driver for name in option.names)


def cases(pairs):
    """From (pattern, what is done) a row for each of the latter."""
    patterns = {}
    for pattern, done in pairs:
        patterns.setdefault(done, []).append(quote(pattern))
    return [f"{' | '.join(found)}) {done} ;;" for done, found in patterns.items() if done]


def offered(command):
    """The options; those of a driver where that is named."""
    drivers = sorted({option.driver for option in command.options} - {""})
    more = [f"[[ ${{COMP_WORDS[*]}} =~ --driver[' '=]+[^' ']*{driver} ]] && words+=' {names(command, driver)}'" for driver in drivers]
    return "; ".join([f"words='{names(command, '')}'", *more])


def script(program, commands):
    values = [(f"{command.name} {name}", option.value) for command in commands for option in command.options if option.value
              for name in option.names]
    words = [(command.name, known(command.word)) for command in commands if command.word]
    if commands[0].name:
        words.append(("", "words=$commands"))
    return fill(SCRIPT, program=program, function=function(program), commands=" ".join(command.name for command in commands),
                taking=cases((pattern, "option=$word") for pattern, value in values if not value.optional),
                ending=cases((command.name, "ended=yes") for command in commands if command.ends),
                values=cases((pattern, known(value)) for pattern, value in values),
                options=cases((command.name, offered(command)) for command in commands), words=cases(words))
