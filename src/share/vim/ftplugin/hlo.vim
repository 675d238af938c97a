if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal shiftwidth=2 expandtab comments=:// commentstring=//\ %s iskeyword+=.
let b:undo_ftplugin = 'setlocal shiftwidth< expandtab< comments< commentstring< iskeyword<'
