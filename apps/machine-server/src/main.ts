/** The machine-server's entry: bounds its memory before anything else is loaded, then runs it. */
import { setFlagsFromString } from 'node:v8';

// The garbage of readings is small and short-lived; the default nursery would grow to tens of MB, most of them while
// the server's own code is loaded. Hence before that. Whoever starts us with a bound has said it all: a flag set here makes V8
// refuse the compiled code that it shares with processes of other flags.
if (!process.execArgv.some((flag) => flag.startsWith('--max-semi-space-size='))) {
  setFlagsFromString('--semi-space-growth-factor=1');
}

const { run } = await import('./run.ts');
// Keep-alive connections of peers and the channel of a parent must not hold a stopped server.
process.exit(await run(process.argv.slice(2), process.env));
