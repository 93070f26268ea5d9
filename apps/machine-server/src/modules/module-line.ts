/** The lines of modules, as their libraries send and print them. */
import type { LogFields, LogLevel } from '@platform/base';
import { isRecord } from '@platform/base';

export interface ModuleLine {
  readonly level: LogLevel;
  /** Below the logger of the module; empty: the module's own. */
  readonly logger: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** Loggers of other machine-servers have further levels. */
export function levelOf(text: string): LogLevel {
  const level = text.toLowerCase();
  if (level === 'debug' || level === 'info') return level;
  return level.startsWith('warn') ? 'warn' : 'error';
}

/** Removes the name of the module, which our log adds; resources get our spelling. The public SDK for Python writes dots as slashes. */
export function loggerOf(name: string, module: string): string {
  const isOwn = name === module || name === module.replaceAll('.', '/');
  const own = isOwn ? '' : name.startsWith(`${module}.`) ? name.slice(module.length + 1) : name;
  return own.replace(/(^|\.)rdk(?=:)/g, '$1core');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins every colour code.
const colours = /\u001b\[[\d;]*m/g;

export function withoutColours(text: string): string {
  return text.includes('\u001b') ? text.replace(colours, '') : text;
}

/** `2026-01-02 03:04:05,678⇥⇥INFO⇥name (file.py:9)⇥message⇥` */
const python = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\t\t([A-Z]+)\t(.*?) \(([^()\t]+:\d+)\)\t(.*?)\t?$/;
/** `2026-01-02T03:04:05.678Z⇥INFO⇥name⇥folder/file.go:9⇥message⇥{"key":"value"}`; the place and the fields may be missing. */
const go = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d{4})\t([A-Z]+)\t([^\t]*)\t(?:[^\t]+\.go:\d+\t)?(.*)$/;

/**
 * Reads a line that a module has printed before it could send it. The time of the line is left out, because our log adds one.
 *
 * @param level if the line does not name one
 */
export function readPrinted(text: string, level: LogLevel, module: string): ModuleLine {
  const plain = withoutColours(text);
  const [, pythonLevel = '', pythonName = '', place, pythonMessage] = python.exec(plain) ?? [];
  if (place !== undefined) {
    // As this SDK sends it.
    const message = `${place}\t${pythonMessage}`;
    return { level: levelOf(pythonLevel), logger: loggerOf(pythonName, module), message, fields: {} };
  }
  const [, goLevel = '', goName = '', rest] = go.exec(plain) ?? [];
  if (rest === undefined) return { level, logger: '', message: plain, fields: {} };
  return { level: levelOf(goLevel), logger: loggerOf(goName, module), ...withFields(rest) };
}

function withFields(text: string): Pick<ModuleLine, 'message' | 'fields'> {
  const at = text.lastIndexOf('\t{');
  if (at < 0) return { message: text, fields: {} };
  try {
    const fields: unknown = JSON.parse(text.slice(at + 1));
    if (isRecord(fields)) return { message: text.slice(0, at), fields };
  } catch {
    // The brace belongs to the message.
  }
  return { message: text, fields: {} };
}
