/**
 * The Windows event log as an output: lines go to the application log under the source `platform-machine-server`. Node has no interface to
 * it, so one PowerShell process writes all lines; it ends with its input. Other systems do not have this output.
 */
import { spawn } from 'node:child_process';
import { fieldText, type LogLevel, type LogLine, printable } from '@platform/base';
import type { Sink } from './server-log.ts';

/** A process that reads lines of text. */
export interface LineProcess {
  write(line: string): void;
  /** Resolves when it has read everything and ended, or after a few seconds. */
  end(): Promise<void>;
}

export interface EventLogOptions {
  readonly platform: NodeJS.Platform;
  /** `PLATFORM_NO_WINDOWS_EVENT_LOGGER`. */
  readonly isDisabled: boolean;
  readonly startProcess?: (command: string, args: readonly string[]) => LineProcess;
}

const source = 'platform-machine-server';
/** The event log takes at most 31,839 characters. */
const maxLength = 30_000;
const entryTypes: Readonly<Record<LogLevel, string>> = {
  debug: 'Information',
  info: 'Information',
  warn: 'Warning',
  error: 'Error',
};

/** Reads JSON lines in base64, so that no text of a line can be run as code. The first start under a name needs an administrator. */
const script = `
if (-not [System.Diagnostics.EventLog]::SourceExists('${source}')) { New-EventLog -LogName Application -Source '${source}' }
while ($null -ne ($line = [Console]::In.ReadLine())) {
  $entry = [System.Text.Encoding]::UTF8.GetString([System.Convert]::FromBase64String($line)) | ConvertFrom-Json
  [System.Diagnostics.EventLog]::WriteEntry('${source}', $entry.text, $entry.type, 1)
}`;

/** Undefined on other systems, and if it is disabled. */
export function openEventLog({ platform, isDisabled, startProcess = start }: EventLogOptions): Sink | undefined {
  if (platform !== 'win32' || isDisabled) return undefined;
  const encoded = Buffer.from(script, 'utf16le').toString('base64');
  const process = startProcess('powershell.exe', ['-NoProfile', '-NonInteractive', '-EncodedCommand', encoded]);
  return {
    write(line) {
      const entry = { type: entryTypes[line.level], text: textOf(line).slice(0, maxLength) };
      process.write(`${Buffer.from(JSON.stringify(entry)).toString('base64')}\n`);
    },
    close: () => process.end(),
  };
}

function textOf({ level, logger, message, fields }: LogLine): string {
  const rest = Object.entries(fields).map(([key, value]) => `\n${key}: ${fieldText(value)}`);
  return printable(`${level.toUpperCase()} ${logger}: ${message}${rest.join('')}`);
}

/** Maximum number of lines that wait for the process; further ones are dropped, because other outputs have them. */
const maxWaitingBytes = 1024 * 1024;
const endLimitMs = 3_000;

function start(command: string, args: readonly string[]): LineProcess {
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'], windowsHide: true });
  const ended = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('exit', () => resolve());
  });
  child.stdin.on('error', () => {});
  return {
    write(line) {
      if (child.stdin.writable && child.stdin.writableLength < maxWaitingBytes) child.stdin.write(line);
    },
    async end() {
      child.stdin.end();
      const limit = AbortSignal.timeout(endLimitMs);
      limit.addEventListener('abort', () => child.kill());
      await ended;
    },
  };
}
