/**
 * The size of Node's pool of threads; imported before anything else, because Node reads it when the pool is first used. Syncs, files in
 * folders of ours and files that others named have a share each, so that a disk or a file system that does not answer leaves threads for the
 * rest (`disk-turns.ts`, `open-below.ts`, `file-turns.ts`).
 */
process.env['UV_THREADPOOL_SIZE'] ??= '36';
