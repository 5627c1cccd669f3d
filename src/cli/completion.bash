# bash completion of anagyre; printed by `anagyre completion bash`
_anagyre() {
  local -a words=() lines=()
  local i line word current before='' file quoted=''
  # bash also splits words at = and : ; put them together again
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if ((${#words[@]})) && [[ ${COMP_WORDS[i]} == [=:]* || ${words[-1]} == *[=:] ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  current=${words[-1]}
  if [[ $current == [\'\"]* ]]; then
    quoted=1
    words[-1]=${current:1}
  else
    words[-1]=${current//\\/}
    [[ $COMP_WORDBREAKS == *=* ]] && before=${words[-1]%"${words[-1]##*[=:]}"}
  fi
  COMPREPLY=()
  mapfile -t lines < <("${1/#\~/$HOME}" completion words -- "${words[@]}" 2>/dev/null)
  for line in "${lines[@]}"; do
    word=${line%%$'\t'*}
    case $word in
      :file*)
        compopt -o filenames 2>/dev/null
        while IFS= read -r file; do
          [[ $word == :file || -d $file || ${word#:file }' ' == ".${file##*.} " ]] &&
            COMPREPLY+=("$file")
        done < <(compgen -f -- "${words[-1]#"$before"}")
        ;;
      *)
        [[ $word == *= ]] && compopt -o nospace 2>/dev/null
        word=${word#"$before"}
        [[ $quoted ]] || printf -v word %q "$word"
        COMPREPLY+=("$word")
        ;;
    esac
  done
}
complete -F _anagyre anagyre
