/**
 * The log of a module: sends lines to the machine-server (RobotService.Log), in order, from a bounded queue. Before the machine-server has
 * sent its address, and if it accepts no lines, prints them instead: the machine-server logs the output of modules.
 */
import { create, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  asPlatformError,
  type Clock,
  createLog,
  type Follower,
  fieldText,
  follow,
  isLogged,
  type Log,
  type LogLevel,
  type LogLine,
  silentLog,
  zapFields,
} from '@platform/base';
import { type LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Link } from '@platform/rpc/client';

const maxQueued = 1_000;
const callTimeoutMs = 5_000;
const lastTryMs = 1_000;

export interface ModuleLogOptions {
  /** Logger of the module's own lines. */
  readonly name: string;
  readonly level: LogLevel;
  readonly clock: Clock;
  readonly print: (text: string, level: LogLevel) => void;
}

export class ModuleLog implements AsyncDisposable {
  readonly #options: ModuleLogOptions;
  readonly #queue: LogLine[] = [];
  /** Levels of resources with their own level, by full name. */
  readonly #levels = new Map<string, LogLevel>();
  readonly log: Log;
  #dropped = 0;
  #parent: Pick<Link, 'client'> | undefined;
  #follower: Follower | undefined;

  constructor(options: ModuleLogOptions) {
    this.#options = options;
    this.log = this.#create(options.name, () => options.level);
  }

  /** The log of a resource, and of what is below it. @param level from its `log_configuration`; undefined: that of the module */
  ofResource(full: string, level: LogLevel | undefined): Log {
    if (level === undefined) this.#levels.delete(full);
    else this.#levels.set(full, level);
    const { name, level: ofModule } = this.#options;
    return this.#create(`${name}.${full}`, () => this.#levels.get(full) ?? ofModule);
  }

  /** From now on, lines go to this machine-server. */
  sendTo(parent: Pick<Link, 'client'>): void {
    this.#parent = parent;
    this.#follower ??= follow({
      name: 'send log lines',
      step: (signal) => this.#send(signal, callTimeoutMs),
      clock: this.#options.clock,
      log: silentLog,
      idleMs: 60_000,
      backoff: { firstMs: 200, maxMs: 5_000 },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower?.[Symbol.asyncDispose]();
    const over = AbortSignal.timeout(lastTryMs);
    try {
      while (await this.#send(over, lastTryMs));
    } catch {
      for (const line of this.#queue.splice(0)) this.#print(line);
    }
  }

  #create(name: string, least: () => LogLevel): Log {
    const { clock } = this.#options;
    return createLog((level, logger, message, fields) => {
      if (isLogged(level, least())) this.#add({ timeMs: clock.now(), level, logger, message, fields });
    }, name);
  }

  #add(line: LogLine): void {
    if (this.#parent === undefined) {
      this.#print(line);
      return;
    }
    if (this.#queue.length >= maxQueued) {
      this.#queue.shift();
      this.#dropped++;
    }
    this.#queue.push(line);
    this.#follower?.wake();
  }

  /** Sends one line per call, because machine-servers reject several. @returns whether there are more */
  async #send(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const [line] = this.#queue;
    if (line === undefined || this.#parent === undefined) return false;
    const lost = this.#dropped;
    const logs = [entryOf(lost === 0 ? line : { ...line, fields: { ...line.fields, dropped_lines: lost } })];
    try {
      await this.#parent.client(RobotService).log({ logs }, { signal, timeoutMs });
    } catch (caught) {
      if (asPlatformError(caught).code !== 'unimplemented') throw caught;
      this.#print(line);
    }
    // A full queue may have dropped the line meanwhile.
    if (this.#queue[0] === line) this.#queue.shift();
    this.#dropped -= lost;
    return this.#queue.length > 0;
  }

  #print({ level, logger, message, fields }: LogLine): void {
    const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(value)}`);
    this.#options.print(`${level.toUpperCase()} ${logger} ${message}${rest.join('')}\n`, level);
  }
}

/** The message has a separate field for a stack. */
function entryOf({ timeMs, level, logger, message, fields }: LogLine): LogEntry {
  const { stack, ...rest } = fields;
  return create(LogEntrySchema, {
    level,
    time: timestampFromMs(timeMs),
    loggerName: logger,
    message,
    stack: typeof stack === 'string' ? stack : '',
    fields: zapFields(rest) as unknown as JsonObject[],
  });
}
