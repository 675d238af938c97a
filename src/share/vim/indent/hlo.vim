" HLO text: what stands in braces is one step in, computations and constants of several lines alike.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1
setlocal indentexpr=HloIndent(v:lnum) indentkeys=0},0),o,O,!^F
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*HloIndent')
  finish
endif

" The line without what is no code.
function s:code(lnum) abort
  let line = substitute(getline(a:lnum), '"\%(\\.\|[^"\\]\)*"', '', 'g')
  return substitute(substitute(line, '/\*.\{-}\*/', '', 'g'), '//.*', '', '')
endfunction

" Braces that a line leaves open, those aside that it begins by closing: they moved the line itself.
function s:opened(code) abort
  return count(a:code, '{') - count(a:code, '}') + strlen(matchstr(a:code, '^\s*\zs}*'))
endfunction

" The column behind a parenthesis that is the last to be left open, else 0.
function s:parenthesis(code) abort
  let open = []
  for column in range(strlen(a:code))
    if a:code[column] =~# '[({]'
      call add(open, column)
    elseif a:code[column] =~# '[)}]' && !empty(open)
      call remove(open, -1)
    endif
  endfor
  return !empty(open) && a:code[open[-1]] ==# '(' ? open[-1] + 1 : 0
endfunction

" An op in a line of its own, behind a long shape.
function s:is_op(lnum) abort
  return s:code(a:lnum) =~# '^\s*[a-z][a-z0-9-]*('
endfunction

" Where the instruction began that ends in this line.
function s:first(lnum) abort
  let lnum = a:lnum
  let closed = 0
  while lnum > 1
    let closed += count(s:code(lnum), ')') - count(s:code(lnum), '(')
    if closed <= 0 && !s:is_op(lnum)
      break
    endif
    let lnum = prevnonblank(lnum - 1)
  endwhile
  return lnum
endfunction

function HloIndent(lnum) abort
  let before = prevnonblank(a:lnum - 1)
  if before == 0
    return 0
  endif
  let code = s:code(before)
  if s:parenthesis(code)
    return s:parenthesis(code)
  endif
  if s:is_op(a:lnum)
    return indent(s:first(before)) + shiftwidth()
  endif
  let steps = s:opened(code) - strlen(matchstr(s:code(a:lnum), '^\s*\zs}*'))
  return indent(s:first(before)) + steps * shiftwidth()
endfunction
