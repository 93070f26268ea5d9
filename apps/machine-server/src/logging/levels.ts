/**
 * Decides which lines are written: default info; debug mode overrides everything, then the level of the resource; among the patterns, the
 * last match wins.
 */
import { isLogged, type LogLevel, logLevels, type Problem } from '@platform/base';
import {
  compileLogPattern,
  type LogPatternTest,
  namesOfLogger,
  resourceOfLogger,
} from '@platform/machine-config/log-pattern';
import type { LogPattern } from '@platform/machine-config/schema';

export interface LevelSettings {
  readonly debug: boolean;
  readonly patterns: readonly LogPattern[];
  /** `log_configuration.level` by full name; overrides the patterns. */
  readonly resources: ReadonlyMap<string, string>;
  /** `log_level` by name of the module, for its loggers that no pattern matches. */
  readonly modules?: ReadonlyMap<string, string>;
}

/** Each logger is compared with all of them, in its first line after a change. */
const maxPatterns = 1_000;

/** Loggers of modules. */
const modulePrefix = 'modules.';

export class Levels {
  #settings: LevelSettings = { debug: false, patterns: [], resources: new Map() };
  #patterns: readonly { readonly matches: LogPatternTest; readonly level: LogLevel }[] = [];
  readonly #known = new Map<string, LogLevel>();

  /** Returns the patterns and levels that are invalid. */
  set(settings: LevelSettings): readonly Problem[] {
    this.#settings = settings;
    this.#known.clear();
    const problems: Problem[] = [];
    const warn = (path: string, message: string): void => void problems.push({ path, level: 'warning', message });
    if (settings.patterns.length > maxPatterns)
      warn(
        'log',
        `expected at most ${maxPatterns} patterns, found ${settings.patterns.length}: the last ones have no effect`,
      );
    this.#patterns = settings.patterns.slice(0, maxPatterns).flatMap(({ pattern, level: text }, index) => {
      const matches = compileLogPattern(pattern);
      const level = levelOf(text);
      if (typeof matches === 'string') warn(`log[${index}].pattern`, `${matches}: it matches nothing`);
      if (level === undefined)
        warn(`log[${index}].level`, `expected one of debug, info, warn, error, found "${text}": it has no effect`);
      return typeof matches === 'string' || level === undefined ? [] : [{ matches, level }];
    });
    return problems;
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
    const own = levelOf(this.#levelOfResource(logger));
    if (own !== undefined) return own;
    const names = namesOfLogger(logger);
    const level = this.#patterns.findLast(({ matches }) => names.some(matches))?.level;
    return level ?? levelOf(this.#levelOfModule(logger)) ?? 'info';
  }

  /** Modules name the loggers of their resources freely, but end with the name of the resource. */
  #levelOfResource(logger: string): string {
    const { resources } = this.#settings;
    const level = resources.get(resourceOfLogger(logger) ?? '');
    if (level !== undefined || !logger.startsWith(modulePrefix)) return level ?? '';
    for (const [resource, each] of resources) {
      const name = resource.slice(resource.indexOf('/') + 1);
      if (logger.endsWith(`.${name}`) || logger.endsWith(`/${name}`)) return each;
    }
    return '';
  }

  #levelOfModule(logger: string): string {
    if (!logger.startsWith(modulePrefix)) return '';
    const rest = logger.slice(modulePrefix.length);
    // A name may contain dots, so each module is tried.
    for (const [name, level] of this.#settings.modules ?? [])
      if (rest === name || rest.startsWith(`${name}.`)) return level;
    return '';
  }
}

function levelOf(text: string): LogLevel | undefined {
  const level = text.toLowerCase() === 'warning' ? 'warn' : text.toLowerCase();
  return logLevels.find((each) => each === level);
}
