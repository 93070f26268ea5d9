/** The numbers of this process and this computer. Names end in their unit; without one, they count. Counters grow from the start. */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { freemem, loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { cpuUsage, memoryUsage } from 'node:process';
import { harmless } from '@platform/base';

export interface ProcessMeasure extends Disposable {
  readonly measure: (values: Map<string, number>) => void;
}

/** How often the delay of the event loop is measured. More often would wake an idle computer too often. */
const delayEveryMs = 250;
const nsPerUs = 1_000;

export function measureProcess(): ProcessMeasure {
  const delay = monitorEventLoopDelay({ resolution: delayEveryMs });
  delay.enable();
  const network = openNetworkCounters();
  const delayUs = (ns: number): number => Math.max(0, ns / nsPerUs - delayEveryMs * 1_000);
  return {
    measure(values) {
      const cpu = cpuUsage();
      values.set('process.cpu_user_us', cpu.user);
      values.set('process.cpu_system_us', cpu.system);
      measureMemory(values);
      const files = openFiles();
      if (files !== undefined) values.set('process.open_files', files);
      // Without a measurement, as in the first sample, the histogram has no mean.
      values.set('event_loop.delay_mean_us', Number.isNaN(delay.mean) ? 0 : delayUs(delay.mean));
      values.set('event_loop.delay_max_us', delayUs(delay.max));
      delay.reset();
      values.set('computer.load_1m_milli', (loadavg()[0] ?? 0) * 1_000);
      values.set('computer.free_memory_bytes', freemem());
      for (const [name, { received, sent }] of network.read()) {
        values.set(`network.${name}.received_bytes`, received);
        values.set(`network.${name}.sent_bytes`, sent);
      }
    },
    [Symbol.dispose]() {
      delay.disable();
      network[Symbol.dispose]();
    },
  };
}

/** The system tells it in a file, so there are no values while the process has no descriptor left. */
const measureMemory = harmless((values: Map<string, number>): void => {
  const memory = memoryUsage();
  values.set('process.rss_bytes', memory.rss);
  values.set('process.heap_used_bytes', memory.heapUsed);
  values.set('process.heap_total_bytes', memory.heapTotal);
  values.set('process.external_bytes', memory.external);
  values.set('process.array_buffers_bytes', memory.arrayBuffers);
});

/** Undefined if the system does not list them. */
function openFiles(): number | undefined {
  try {
    // Linux ≥ 6.2 gives their number as the size; reading the list takes ten times as long. The list itself is one of those listed.
    return statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

const maxInterfaces = 16;

type Counters = readonly [name: string, counters: { readonly received: number; readonly sent: number }];

/**
 * For every network interface except loopback, up to a maximum number; none if the system does not list them. The list stays open:
 * opening it for each sample takes ten times as long as reading it.
 */
function openNetworkCounters(): Disposable & { read(): readonly Counters[] } {
  const buffer = Buffer.alloc(16_384);
  let file: number | undefined;
  return {
    read() {
      try {
        file ??= openSync('/proc/net/dev', 'r');
        const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
        return [...text.matchAll(/^ *([^\s:]+): *(\d+)(?: +\d+){7} +(\d+)/gm)]
          .filter(([, name]) => name !== 'lo')
          .slice(0, maxInterfaces)
          .map(([, name = '', received, sent]) => [name, { received: Number(received), sent: Number(sent) }]);
      } catch {
        return [];
      }
    },
    [Symbol.dispose]() {
      if (file !== undefined) closeSync(file);
    },
  };
}
