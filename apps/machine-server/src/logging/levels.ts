/**
 * Decides which lines are written: default info; debug mode overrides everything, then the level of the resource; among the patterns, the
 * last match wins.
 */
import { isLogged, type LogLevel, logLevels, type Problem } from '@platform/base';
import {
  compileLogPattern,
  type LogPatternTest,
  modulePrefix,
  namesOfLogger,
  resourceOfLogger,
} from '@platform/machine-config/log-pattern';
import type { LogPattern } from '@platform/machine-config/schema';

export interface LevelSettings {
  readonly debug: boolean;
  readonly patterns: readonly LogPattern[];
  /** `log_configuration.level` by full name; overrides the patterns. */
  readonly resources: ReadonlyMap<string, string>;
  /** The modules with their `log_level` (empty: none), for their loggers that no pattern matches. */
  readonly modules?: ReadonlyMap<string, string>;
  /** Full names of all resources, by which lines of modules about them are recognised. */
  readonly names?: () => Iterable<string>;
}

/** Each logger is compared with all of them, in its first line after a change. */
const maxPatterns = 1_000;

export class Levels {
  #settings: LevelSettings = { debug: false, patterns: [], resources: new Map() };
  #patterns: readonly { readonly matches: LogPatternTest; readonly level: LogLevel }[] = [];
  readonly #known = new Map<string, LogLevel>();
  /** Of {@link LevelSettings.names}, by full name and by name; read with the first line of a module. */
  #names: { readonly full: ReadonlySet<string>; readonly byShort: ReadonlyMap<string, string> } | undefined;

  /** Returns the patterns and levels that are invalid. */
  set(settings: LevelSettings): readonly Problem[] {
    this.#settings = settings;
    this.#known.clear();
    this.#names = undefined;
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
    return isLogged(level, this.of(logger));
  }

  /** The least severe level that is written. */
  of(logger: string): LogLevel {
    const known = this.#known.get(logger);
    if (known !== undefined) return known;
    const least = this.#leastOf(logger);
    if (this.#known.size < 10_000) this.#known.set(logger, least);
    return least;
  }

  #leastOf(logger: string): LogLevel {
    const { debug, resources, modules } = this.#settings;
    if (debug) return 'debug';
    const module = this.#moduleOf(logger);
    const resource = module === undefined ? resourceOfLogger(logger) : this.#resourceOf(logger, module);
    const own = levelOf(resources.get(resource ?? '') ?? '');
    if (own !== undefined) return own;
    const names = namesOfLogger(logger, resource);
    // A pattern for a module means all its lines.
    const all = module === undefined ? names : [...names, ...namesOfLogger(`${modulePrefix}${module}`), module];
    const level = this.#patterns.findLast(({ matches }) => all.some(matches))?.level;
    return level ?? levelOf(modules?.get(module ?? '') ?? '') ?? 'info';
  }

  /** The module whose logger this is, or is below. A name may contain dots, so the longest one counts. */
  #moduleOf(logger: string): string | undefined {
    if (!logger.startsWith(modulePrefix)) return undefined;
    const rest = logger.slice(modulePrefix.length);
    let found: string | undefined;
    for (const name of this.#settings.modules?.keys() ?? [])
      if ((rest === name || rest.startsWith(`${name}.`)) && name.length >= (found ?? '').length) found = name;
    return found ?? rest.split('.', 1)[0];
  }

  /**
   * The resource that lines of this logger of a module are about. Modules append names of their own to its full name, the public SDK for
   * Python writes its dots as slashes, and others use its name alone.
   */
  #resourceOf(logger: string, module: string): string | undefined {
    this.#names ??= namesOf(this.#settings);
    const { full: known, byShort } = this.#names;
    const full = resourceOfLogger(logger);
    if (full === undefined) {
      const rest = logger.slice(modulePrefix.length + module.length + 1);
      return byShort.get(rest) ?? byShort.get(rest.slice(rest.lastIndexOf('.') + 1));
    }
    const [api = '', name = ''] = [full.slice(0, full.indexOf('/')), full.slice(full.indexOf('/') + 1)];
    for (const each of [name, name.replaceAll('/', '.')])
      for (let end = each.length; end > 0; end = each.lastIndexOf('.', end - 1))
        if (known.has(`${api}/${each.slice(0, end)}`)) return `${api}/${each.slice(0, end)}`;
    return full;
  }
}

function namesOf({ names, resources }: LevelSettings): {
  readonly full: ReadonlySet<string>;
  readonly byShort: ReadonlyMap<string, string>;
} {
  const full = new Set([...(names?.() ?? []), ...resources.keys()]);
  return { full, byShort: new Map([...full].map((each) => [each.slice(each.indexOf('/') + 1), each])) };
}

function levelOf(text: string): LogLevel | undefined {
  const level = text.toLowerCase() === 'warning' ? 'warn' : text.toLowerCase();
  return logLevels.find((each) => each === level);
}
