/** Entry point of the machine-server. */
import './thread-pool.ts';
import { endProcess } from '@platform/base';
import { begin } from './begin.ts';

const code = await begin(process.argv.slice(2), process.env);
// Keep-alive connections of peers and the channel of a parent must not keep a stopped server running.
await endProcess(code);
