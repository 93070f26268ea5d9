const levels = ['debug', 'info', 'warn', 'error'];

/**
 * Formats a log line of a started process (JSON or plain text) for people; undefined below `least`. Plain text is always shown, because
 * processes use it only for important messages.
 */
export function readableLog(line: string, least = 'warn'): string | undefined {
  let entry: Record<string, unknown> | undefined;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof entry !== 'object' || entry === null) return line;
  const { level, msg, time: _time, logger: _logger, code: _code, error, ...fields } = entry;
  if (typeof msg !== 'string') return line;
  if (levels.indexOf(String(level)) < levels.indexOf(least)) return undefined;
  const shown = Object.entries(fields).flatMap(([name, value]) => (isShort(value) ? [`${name}: ${value}`] : []));
  const which = shown.length === 0 ? msg : `${msg} (${shown.join('; ')})`;
  return error === undefined ? which : `${which}: ${String(error)}`;
}

/** Stacks and lists stay in the log. */
function isShort(value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return true;
  return typeof value === 'string' && value.length <= 300 && !value.includes('\n');
}
