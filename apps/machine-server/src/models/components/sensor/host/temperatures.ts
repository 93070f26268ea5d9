import { readdirSync } from 'node:fs';
import { keyOf, readSystemFile, rounded } from './proc.ts';

/**
 * Degrees Celsius of each thermal zone; if there are none, of each hardware monitor. The list is made once: sensors are not added or
 * removed.
 */
export function createThermometers(): () => Record<string, number> {
  const files = zones();
  const sources = files.length > 0 ? files : monitors();
  return () => {
    const readings: Record<string, number> = {};
    for (const { name, path } of sources) {
      const milli = readSystemFile(path);
      if (milli !== undefined && milli.trim() !== '') readings[name] = rounded(Number(milli) / 1_000);
    }
    return readings;
  };
}

interface Source {
  readonly name: string;
  readonly path: string;
}

function zones(): Source[] {
  const root = '/sys/class/thermal';
  return list(root)
    .filter((entry) => entry.startsWith('thermal_zone'))
    .map((entry) => {
      const type = readSystemFile(`${root}/${entry}/type`)?.trim() ?? '';
      return { name: keyOf(`${type}_${entry.slice('thermal_zone'.length)}`), path: `${root}/${entry}/temp` };
    });
}

function monitors(): Source[] {
  const root = '/sys/class/hwmon';
  return list(root).flatMap((entry) => {
    const chip = readSystemFile(`${root}/${entry}/name`)?.trim() ?? entry;
    return list(`${root}/${entry}`)
      .filter((file) => /^temp\d+_input$/.test(file))
      .map((file) => ({ name: keyOf(`${chip}_${file.slice(4, -6)}`), path: `${root}/${entry}/${file}` }));
  });
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
