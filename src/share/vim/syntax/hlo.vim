" HLO text. What stands before a parenthesis behind a shape is an op, so there is no list of them here.
if exists('b:current_syntax')
  finish
endif

syntax keyword hloKeyword HloModule ENTRY ROOT
syntax keyword hloConstant true false inf nan
syntax match hloOp /\<[a-z][a-z0-9-]*\ze(/
syntax match hloType /\<\(pred\|token\|opaque\|bf16\|[suf][0-9]\+\(e[0-9]\+m[0-9]\+\(b[0-9]\+\)\?\(fnuz\|fnu\|fn\)\?\)\?\|c64\|c128\)\ze\(\[\|\>[^-.(=]\)/
syntax match hloAttribute /\<[a-z_-]\+\ze=/
syntax match hloNumber /\<[0-9]\+\(\.[0-9]*\)\?\(e[-+]\?[0-9]\+\)\?\>/
syntax region hloString start=/"/ skip=/\\./ end=/"/
syntax match hloComment /\/\/.*/
syntax region hloComment start=/\/\*/ end=/\*\//

highlight default link hloKeyword Keyword
highlight default link hloConstant Constant
highlight default link hloOp Function
highlight default link hloType Type
highlight default link hloAttribute Identifier
highlight default link hloNumber Number
highlight default link hloString String
highlight default link hloComment Comment

let b:current_syntax = 'hlo'
