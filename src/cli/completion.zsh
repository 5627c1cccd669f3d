#compdef anagyre
# zsh completion of anagyre; printed by `anagyre completion zsh`
_anagyre() {
  local line word doc files= done=1
  local -a lines plain open
  lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    word=${line%%$'\t'*}
    doc=${line#$word}
    doc=${doc#$'\t'}
    case $word in
      :file*) files=${word#:file}' ' ;;
      *=) open+=("${word//:/\\:}:$doc") ;;
      *) plain+=("${word//:/\\:}:$doc") ;;
    esac
  done
  (($#plain)) && _describe anagyre plain && done=0
  (($#open)) && _describe anagyre open -S '' && done=0
  [[ $files == ' ' ]] && _files && done=0
  [[ $files == ' .'* ]] && _files -g "*${${files# }% }" && done=0
  return done
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _anagyre "$@"
else
  compdef _anagyre anagyre
fi
