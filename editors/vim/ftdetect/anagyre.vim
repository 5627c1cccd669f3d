autocmd BufNewFile,BufRead *.nh setfiletype anagyre
