/**
 * The file format of queued lines. A line of the file is `<CRC-32 of the rest, 8 hex digits> <JSON>\n`, and the JSON is `[number, timeMs,
 * level, logger, message, fields]`. A crash leaves a torn end, which readers drop; a damaged line is skipped.
 */
import { crc32 } from 'node:zlib';
import { fieldText, isRecord, type LogLevel, type LogLine, logLevels } from '@platform/base';

/** A line with its number in the queue; numbers grow, even across restarts. */
export interface QueuedLine {
  readonly number: number;
  readonly line: LogLine;
}

const maxMessageLength = 16_384;
const maxFieldsLength = 16_384;
const maxLoggerLength = 256;

/** Cuts a line to the lengths that the cloud keeps. */
export function cutLine(line: LogLine): LogLine {
  const fields = fieldText(line.fields);
  return {
    ...line,
    logger: line.logger.slice(0, maxLoggerLength).toWellFormed(),
    message: line.message.slice(0, maxMessageLength).toWellFormed(),
    fields: fields.length <= maxFieldsLength ? line.fields : { fieldsOmitted: `${fields.length} characters` },
  };
}

export function encodeLine({ number, line }: QueuedLine): string {
  const { timeMs, level, logger, message, fields } = line;
  const json = fieldText([number, timeMs, level, logger, message, fields]);
  return `${checksum(json)} ${json}\n`;
}

/** The valid lines, in order of their numbers. */
export function decodeLines(bytes: Buffer): readonly QueuedLine[] {
  const lines: QueuedLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    if (end === -1) break;
    const decoded = decodeLine(bytes.toString('utf8', start, end));
    start = end + 1;
    if (decoded !== undefined && decoded.number > (lines.at(-1)?.number ?? 0)) lines.push(decoded);
  }
  return lines;
}

function decodeLine(text: string): QueuedLine | undefined {
  const json = text.slice(9);
  if (text.slice(0, 9) !== `${checksum(json)} `) return undefined;
  const [number, timeMs, level, logger, message, fields] = JSON.parse(json) as unknown[];
  if (typeof number !== 'number' || typeof timeMs !== 'number' || !isLevel(level)) return undefined;
  if (typeof logger !== 'string' || typeof message !== 'string' || !isRecord(fields)) return undefined;
  return { number, line: { timeMs, level, logger, message, fields } };
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}

function isLevel(value: unknown): value is LogLevel {
  return logLevels.some((level) => level === value);
}
