const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/**
 * A log line of a started process (pino JSON, or plain text) as a person reads it; undefined below `least`.
 * Plain text is always shown: processes say only what matters that way.
 */
export function readableLog(line: string, least: keyof typeof levels = 'warn'): string | undefined {
  let entry: { level?: unknown; msg?: unknown; name?: unknown; error?: unknown } | undefined;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof entry !== 'object' || entry === null || typeof entry.msg !== 'string') return line;
  const level = typeof entry.level === 'number' ? entry.level : (levels[entry.level as 'info'] ?? levels.info);
  if (level < levels[least]) return undefined;
  return entry.error === undefined ? entry.msg : `${entry.msg}: ${String(entry.error)}`;
}
