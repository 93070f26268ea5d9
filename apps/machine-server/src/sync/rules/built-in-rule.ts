/** The rules of `sync_rules`, which need no sensor. */
import { networkInterfaces } from 'node:os';
import type { Clock } from '@platform/base';
import { isInWindow, type TimeWindow, windowText } from '@platform/machine-config/time-window';
import { systemVolume } from '../reclaim/reclaim.ts';
import type { SyncRule } from './sync-rule.ts';

export interface BuiltInRules {
  /** Undefined for any time. */
  readonly timeWindow: TimeWindow | undefined;
  /** Names of interfaces, one of which must be connected; `*` at the end matches anything. Empty: any. */
  readonly networkInterfaces: readonly string[];
  /** Below this share of free disk (0–1), the other rules no longer apply; 0: they always apply. */
  readonly whenFreeDiskBelow: number;
}

export interface RuleFacts {
  /** In local time: day of the week (0 is Sunday) and minute after midnight. */
  readonly time: () => { readonly day: number; readonly minute: number };
  /** Interfaces with an address, without loopback. */
  readonly connected: () => readonly string[];
  /** 0–1. */
  readonly freeDisk: () => Promise<number>;
}

export function builtInRule(rules: BuiltInRules, facts: RuleFacts): SyncRule {
  const { timeWindow, networkInterfaces: allowed, whenFreeDiskBelow } = rules;
  const held = (): string | undefined => {
    const { day, minute } = facts.time();
    if (timeWindow !== undefined && !isInWindow(timeWindow, day, minute))
      return `sync_rules.time_window allows it from ${windowText(timeWindow)}`;
    if (allowed.length === 0) return undefined;
    const connected = facts.connected();
    if (connected.some((name) => allowed.some((pattern) => matches(name, pattern)))) return undefined;
    return `sync_rules.network_interfaces allows ${allowed.join(', ')}; connected: ${connected.join(', ') || 'none'}`;
  };
  return async () => {
    const reason = held();
    if (reason === undefined || whenFreeDiskBelow === 0) return reason;
    return (await facts.freeDisk()) < whenFreeDiskBelow ? undefined : reason;
  };
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The conditions of this computer. @param directory on the disk to which `when_free_disk_below` applies */
export function systemFacts(clock: Clock, directory: string): RuleFacts {
  return {
    time() {
      const now = new Date(clock.now());
      return { day: now.getDay(), minute: now.getHours() * 60 + now.getMinutes() };
    },
    connected: () =>
      Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
        addresses?.some(({ internal }) => !internal) === true ? [name] : [],
      ),
    async freeDisk() {
      const { volumeBytes, usedBytes } = await systemVolume(directory);
      return volumeBytes === 0 ? 1 : 1 - usedBytes / volumeBytes;
    },
  };
}
