/** Entry point of the machine-server. */
import { resolveOnce } from '@platform/base/resolve-once';

// Node's pool of threads, before its first use. Syncs, files in folders of ours and files that others named have a share each, so that a disk
// or a file system that does not answer leaves threads for the rest (`disk-turns.ts`, `open-below.ts`, `file-turns.ts`).
process.env['UV_THREADPOOL_SIZE'] ??= '36';
resolveOnce();
const { begin } = await import('./begin.ts');
const code = await begin(process.argv.slice(2), process.env);
const { endProcess } = await import('@platform/base');
// Keep-alive connections of peers and the channel of a parent must not keep a stopped server running.
await endProcess(code);
