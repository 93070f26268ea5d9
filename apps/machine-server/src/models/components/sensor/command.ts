/**
 * `core:builtin:command`: the JSON that a program writes to its standard output. Refused with `-untrusted-env`.
 *
 * Attributes: `command` (required; a path, or a name to look up in PATH), `args` (list of strings), `directory` (where it runs); `mode`:
 * `run` (default) starts it for each reading, which is the JSON value that it prints; `stream` keeps it running, and a reading is the
 * newest of its lines, each a JSON value; `timeout_ms` (default 10,000): the longest run, or wait for the first line; `max_age_ms` (default
 * 0: any age): an older line is an error; `max_bytes` (default 65,536) of an output or a line; `values` (object: name → JSON path) picks
 * values. A program that ends in `stream` is restarted after delays that increase from 1 s to 1 min.
 */
import {
  type Clock,
  dataLoss,
  errorText,
  type Log,
  PlatformError,
  resourceExhausted,
  unavailable,
} from '@platform/base';
import type { Document, Sensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { withTimeout } from '../../../graph/with-timeout.ts';
import { keepRunning } from '../../../hardware/keep-running.ts';
import { createLines } from '../../../hardware/lines.ts';
import { type ProgramOptions, startProgram } from '../../../hardware/start-program.ts';
import { choiceOf, readAttributes, required, stringsOf } from '../../attributes.ts';
import { type JsonPath, parseJsonPaths } from '../../json-path.ts';
import { createNewest } from '../../newest.ts';
import { noCommands } from '../../no-commands.ts';
import { refuseIfUntrusted, type Trust } from '../../untrusted.ts';
import { valuesOf } from '../../values-of.ts';

const fields = {
  command: { kind: 'string' },
  args: { kind: 'list' },
  directory: { kind: 'string' },
  mode: { kind: 'string', default: 'run' },
  timeout_ms: { kind: 'int', default: 10_000, min: 1, max: 3_600_000 },
  max_age_ms: { kind: 'int', default: 0, min: 0 },
  max_bytes: { kind: 'int', default: 65_536, min: 1, max: 16_777_216 },
  values: { kind: 'object' },
} as const;

interface Source {
  readonly program: Pick<ProgramOptions, 'command' | 'args' | 'directory' | 'clock'>;
  readonly paths: ReadonlyMap<string, JsonPath>;
  readonly timeoutMs: number;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

export const createCommandSensor = (clock: Clock, trust: Trust): Model => ({
  api: 'core:component:sensor',
  model: 'core:builtin:command',
  fields,
  async build({ attributes }, { log }): Promise<Sensor> {
    refuseIfUntrusted(trust, 'the model core:builtin:command');
    const values = readAttributes(fields, attributes);
    const { directory, mode, timeout_ms: timeoutMs, max_age_ms: maxAgeMs, max_bytes: maxBytes } = values;
    const command = required(values.command, 'command', 'a program');
    const source: Source = {
      program: { command, args: stringsOf(values.args ?? [], 'args'), directory, clock },
      paths: parseJsonPaths(values.values, 'attributes.values'),
      ...{ timeoutMs, maxAgeMs, maxBytes, clock, log },
    };
    return choiceOf(mode, 'mode', ['run', 'stream']) === 'run' ? perReading(source) : await streaming(source);
  },
});

/** Concurrent readings run separate programs; the limit of requests for a resource limits them. */
function perReading({ program, paths, timeoutMs, maxBytes, clock, log }: Source): Sensor {
  const running = new Set<AsyncDisposable>();
  const { command } = program;
  return {
    async readings(): Promise<Document> {
      const chunks: Uint8Array[] = [];
      let length = 0;
      let lastError = '';
      const tooLong = Promise.withResolvers<never>();
      tooLong.promise.catch(() => {});
      const started = await startProgram({
        ...program,
        onOutput(chunk) {
          length += chunk.length;
          if (length <= maxBytes) chunks.push(chunk);
          else
            tooLong.reject(
              resourceExhausted(`${command}: expected at most ${maxBytes} bytes of output (max_bytes), found more`),
            );
        },
        onErrorLine(line) {
          lastError = line;
          log.debug(`${command}: ${line}`);
        },
      });
      running.add(started);
      try {
        const late = `${command}: expected it to end within ${timeoutMs} ms (timeout_ms); it was ended`;
        const { isSuccess, text } = await withTimeout(
          Promise.race([started.ended, tooLong.promise]),
          timeoutMs,
          late,
          clock,
        );
        if (!isSuccess)
          throw unavailable(`${command} failed with ${text}: ${lastError || 'it wrote nothing to standard error'}`);
        return valuesOf(Buffer.concat(chunks).toString('utf8').trim(), command, paths);
      } finally {
        running.delete(started);
        await started[Symbol.asyncDispose]();
      }
    },
    doCommand: noCommands('command sensors have no commands'),
    async close() {
      await Promise.all([...running].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

async function streaming({ program, paths, timeoutMs, maxAgeMs, maxBytes, clock, log }: Source): Promise<Sensor> {
  const { command } = program;
  const newest = createNewest<Document>({
    source: command,
    expected: 'a line of JSON',
    waitMs: timeoutMs,
    maxAgeMs,
    clock,
  });
  const keeper = await keepRunning({
    name: command,
    clock,
    log,
    start() {
      const lines = createLines(
        maxBytes,
        (line) => {
          if (line.trim() === '') return;
          try {
            newest.set(valuesOf(line, command, paths));
          } catch (caught) {
            newest.fail(caught instanceof PlatformError ? caught : dataLoss(errorText(caught)));
          }
        },
        () =>
          newest.fail(
            resourceExhausted(
              `${command}: expected lines of at most ${maxBytes} bytes (max_bytes), found a longer one`,
            ),
          ),
      );
      const onErrorLine = (line: string): void => log.info(`${command}: ${line}`);
      return startProgram({ ...program, onOutput: (chunk) => lines.push(chunk), onErrorLine });
    },
    onEnd: (text) => newest.fail(unavailable(`${command} ended with ${text}; restarting it`)),
  });
  return {
    readings: () => newest.read(),
    doCommand: noCommands('command sensors have no commands'),
    async close() {
      newest.fail(unavailable(`${command}: this sensor was closed`));
      await keeper[Symbol.asyncDispose]();
    },
  };
}
