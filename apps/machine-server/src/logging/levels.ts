/** Which lines are written: default info; debug mode overrides everything; patterns top to bottom, the last match wins. */
import { isLogged, type LogLevel, logLevels, type Problem } from '@platform/base';
import type { LogPattern } from '@platform/machine-config/schema';

export interface LevelSettings {
  readonly debug: boolean;
  readonly patterns: readonly LogPattern[];
  /** `log_configuration.level` by resource name; overrides the patterns. */
  readonly resources: ReadonlyMap<string, string>;
}

export class Levels {
  #settings: LevelSettings = { debug: false, patterns: [], resources: new Map() };
  readonly #known = new Map<string, LogLevel>();

  /** Returns the patterns and levels that are invalid. */
  set(settings: LevelSettings): readonly Problem[] {
    this.#settings = settings;
    this.#known.clear();
    const problem = (path: string, message: string): Problem => ({ path, level: 'warning', message });
    return settings.patterns.flatMap(({ pattern, level }, index) => [
      ...(regexOf(pattern) === undefined
        ? [problem(`log[${index}].pattern`, `expected a regular expression, found "${pattern}"`)]
        : []),
      ...(levelOf(level) === undefined
        ? [problem(`log[${index}].level`, `expected one of debug, info, warn, error, found "${level}"`)]
        : []),
    ]);
  }

  get debug(): boolean {
    return this.#settings.debug;
  }

  passes(level: LogLevel, logger: string): boolean {
    let least = this.#known.get(logger);
    if (least === undefined) {
      least = this.#leastOf(logger);
      if (this.#known.size < 10_000) this.#known.set(logger, least);
    }
    return isLogged(level, least);
  }

  #leastOf(logger: string): LogLevel {
    if (this.#settings.debug) return 'debug';
    for (const name of logger.split('.').toReversed()) {
      const own = levelOf(this.#settings.resources.get(name) ?? '');
      if (own !== undefined) return own;
    }
    let least: LogLevel = 'info';
    for (const { pattern, level } of this.#settings.patterns) {
      if (regexOf(pattern)?.test(logger) === true) least = levelOf(level) ?? least;
    }
    return least;
  }
}

function levelOf(text: string): LogLevel | undefined {
  const level = text.toLowerCase() === 'warning' ? 'warn' : text.toLowerCase();
  return logLevels.find((each) => each === level);
}

/** As in public machine-servers: a dot stands for itself, `*` for anything, and the whole name must match. */
function regexOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  } catch {
    return undefined;
  }
}
