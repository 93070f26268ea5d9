/** Entry point of the machine-server. */
import { resolveOnce } from '@platform/base/resolve-once';

resolveOnce();
const { begin } = await import('./begin.ts');
// Keep-alive connections of peers and the channel of a parent must not keep a stopped server running.
process.exit(await begin(process.argv.slice(2), process.env));
