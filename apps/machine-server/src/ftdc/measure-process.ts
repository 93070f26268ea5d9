/** The numbers of this process and this computer. Names end in their unit; without one, they count. Counters grow from the start. */
import { readdirSync, readFileSync } from 'node:fs';
import { freemem, loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { cpuUsage, memoryUsage } from 'node:process';

export interface ProcessMeasure extends Disposable {
  readonly measure: (values: Map<string, number>) => void;
}

/** How often the delay of the event loop is measured. More often would wake an idle computer too often. */
const delayEveryMs = 250;
const nsPerUs = 1_000;

export function measureProcess(): ProcessMeasure {
  const delay = monitorEventLoopDelay({ resolution: delayEveryMs });
  delay.enable();
  const delayUs = (ns: number): number => Math.max(0, ns / nsPerUs - delayEveryMs * 1_000);
  return {
    measure(values) {
      const [cpu, memory] = [cpuUsage(), memoryUsage()];
      values.set('process.cpu_user_us', cpu.user);
      values.set('process.cpu_system_us', cpu.system);
      values.set('process.rss_bytes', memory.rss);
      values.set('process.heap_used_bytes', memory.heapUsed);
      values.set('process.heap_total_bytes', memory.heapTotal);
      values.set('process.external_bytes', memory.external);
      values.set('process.array_buffers_bytes', memory.arrayBuffers);
      const files = openFiles();
      if (files !== undefined) values.set('process.open_files', files);
      // Without a measurement, as in the first sample, the histogram has no mean.
      values.set('event_loop.delay_mean_us', Number.isNaN(delay.mean) ? 0 : delayUs(delay.mean));
      values.set('event_loop.delay_max_us', delayUs(delay.max));
      delay.reset();
      values.set('computer.load_1m_milli', (loadavg()[0] ?? 0) * 1_000);
      values.set('computer.free_memory_bytes', freemem());
      for (const [name, { received, sent }] of networkCounters()) {
        values.set(`network.${name}.received_bytes`, received);
        values.set(`network.${name}.sent_bytes`, sent);
      }
    },
    [Symbol.dispose]() {
      delay.disable();
    },
  };
}

/** Undefined if the system does not list them. */
function openFiles(): number | undefined {
  try {
    // One of them is the list itself.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

const maxInterfaces = 16;

/** For every network interface except loopback; none if the system does not list them. */
function networkCounters(): [name: string, counters: { readonly received: number; readonly sent: number }][] {
  try {
    const lines = readFileSync('/proc/net/dev', 'latin1').matchAll(/^ *([^\s:]+): *(\d+)(?: +\d+){7} +(\d+)/gm);
    return [...lines]
      .filter(([, name]) => name !== 'lo')
      .slice(0, maxInterfaces)
      .map(([, name = '', received, sent]) => [name, { received: Number(received), sent: Number(sent) }]);
  } catch {
    return [];
  }
}
