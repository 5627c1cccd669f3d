" Syntax of Anagyre model files. Made by tools/syntax.py from the tables of the language.

if exists("b:current_syntax")
  finish
endif

syntax case match
syntax match anagyreComment "#.*$" contains=@Spell
syntax region anagyreString start=+"+ end=+"+ oneline contains=@Spell
syntax match anagyreNumber "\<\%([0-9]\+\.\?[0-9]*\|\.[0-9]\+\)\%([eE][-+]\?[0-9]\+\)\?\>"
syntax keyword anagyreClause and at axis ball by centre colour conserved constant cuts drift dt else falling
  \ first for frozen gravity hinge if in inertia inside integer ito mark mass method normal not occurs of on
  \ or outside over paths pathwise potential raw rising rotated seed sigma spinning sum surface terminal then
  \ through times transport turned varies velocity when within
syntax keyword anagyreFunction abs acos angvel asin atan atan2 cos cosh cross det diag dot euler euler_angles
  \ exp hat hypot identity inverse log log1p max min norm rotation sign sin sinh solve sqrt tan tanh trace
  \ transpose unvaried zero
syntax keyword anagyreConstant pi deg e1 e2 e3 energy t
syntax match anagyreStatement "^\%(model\|reference\|param\|config\|process\|let\|body\|roll\|rubber\|lagrangian\|constraint\|holonomic\|relation\|prescribe\|force\|frame\|noise\|friction\|temperature\|domain\|observable\|candidate\|event\|section\|generator\|start\|guess\|draw\|expect\)\>"
syntax match anagyreReserved "^\%(shape\|group\|experiment\)\>"
syntax match anagyreSpace "\%(\<in\s\+\)\@<=\%(R\|S1\|S2\|SO3\)\>"
syntax match anagyreDrawing "\%(^draw\s\+\)\@<=\%(arrow\|ball\|bowl\|box\|cylinder\|disk\|ellipsoid\|plane\|point\|polyline\|segment\|shell\|spring\|torus\|trace\|tube\)\>"

highlight default link anagyreComment Comment
highlight default link anagyreString String
highlight default link anagyreNumber Number
highlight default link anagyreStatement Statement
highlight default link anagyreReserved Error
highlight default link anagyreSpace Type
highlight default link anagyreDrawing Structure
highlight default link anagyreClause Label
highlight default link anagyreFunction Function
highlight default link anagyreConstant Constant

let b:current_syntax = "anagyre"
