/** Entry point of the machine-server: limits its memory before anything else is loaded, then runs it. */
import { setFlagsFromString } from 'node:v8';

// Readings produce small, short-lived garbage, but the default nursery would grow to tens of MB, mostly while the server's own code is
// loaded. So it is limited before that. If the parent process has set a limit, nothing is set here: a flag would make V8 refuse the
// compiled code that it shares with processes of other flags.
if (!process.execArgv.some((flag) => flag.startsWith('--max-semi-space-size='))) {
  setFlagsFromString('--semi-space-growth-factor=1');
}

const { begin } = await import('./begin.ts');
// Keep-alive connections of peers and the channel of a parent must not keep a stopped server running.
process.exit(await begin(process.argv.slice(2), process.env));
