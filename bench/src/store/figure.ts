import { short, table } from '../figures/table.ts';

/** A line of the table: the measurement, its comparison and its requirement. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit:
    | 'µs'
    | 'ms'
    | 'B'
    | 'kB'
    | 'MB'
    | 's'
    | '×'
    | '%'
    | 'readings/s'
    | 'files/s'
    | 'MB/s'
    | 'mails'
    | 'notifications'
    | 'clicks'
    | 'faults';
  /** The same measurement of the peer or case that it is compared with. */
  readonly beside?: number;
  /** Maximum ratio to the comparison. */
  readonly mostRatio?: number;
  /** Minimum ratio to the comparison. */
  readonly leastRatio?: number;
  /** … and the goal for the ratio. */
  readonly aimRatio?: number;
  /** Sufficient value, whatever the ratio. */
  readonly enough?: number;
  /** Maximum. */
  readonly most?: number;
  readonly aim?: number;
  /** Minimum. */
  readonly least?: number;
  readonly aimLeast?: number;
  /** Any other information. */
  readonly note?: string;
}

export function isMet({ value, beside, mostRatio, leastRatio, enough, most, least }: Figure): boolean {
  if (Number.isNaN(value)) return false;
  if (enough !== undefined && value <= enough) return true;
  if (mostRatio !== undefined && (beside === undefined || value > mostRatio * beside)) return false;
  if (leastRatio !== undefined && (beside === undefined || value < leastRatio * beside)) return false;
  return (most === undefined || value <= most) && (least === undefined || value >= least);
}

export function tableOf(figures: readonly Figure[]): string {
  const head = ['', 'figure', 'value', 'compared with', 'ratio', 'requirement', 'target', 'note'];
  const cells = figures.map((figure) => [
    hasFloor(figure) ? (isMet(figure) ? 'ok' : 'NO') : '',
    figure.name,
    `${short(figure.value)} ${figure.unit}`,
    short(figure.beside),
    figure.beside === undefined ? '' : (figure.value / figure.beside).toFixed(2),
    floorOf(figure),
    aimOf(figure),
    figure.note ?? '',
  ]);
  return table(head, cells, [2, 3, 4]);
}

export function printFigureTable(figures: readonly Figure[], json: boolean, bench = 'store'): void {
  if (!json) console.log(tableOf(figures));
  else for (const figure of figures) console.log(JSON.stringify({ bench, ...figure }));
}

function hasFloor({ mostRatio, leastRatio, most, least }: Figure): boolean {
  return [mostRatio, leastRatio, most, least].some((limit) => limit !== undefined);
}

function floorOf({ mostRatio, leastRatio, enough, most, least, unit }: Figure): string {
  const parts = [
    leastRatio === undefined ? '' : `≥ ${leastRatio} ×`,
    mostRatio === undefined ? '' : `≤ ${mostRatio} ×`,
    enough === undefined ? '' : `≤ ${enough} ${unit}`,
    most === undefined ? '' : `≤ ${most} ${unit}`,
    least === undefined ? '' : `≥ ${short(least)} ${unit}`,
  ];
  return parts.filter(Boolean).join(' or ');
}

function aimOf({ aimRatio, aim, aimLeast, unit }: Figure): string {
  if (aimLeast !== undefined) return `≥ ${aimLeast} ${unit}`;
  if (aimRatio !== undefined) return `≤ ${aimRatio} ×`;
  return aim === undefined ? '' : `≤ ${aim} ${unit}`;
}
