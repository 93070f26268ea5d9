/** The series of preferred numbers that `granularity` names: Renard's, E and 1-2-5, as one decade, and the powers of two. */

const r5 = [10, 16, 25, 40, 63];
const r10 = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
const r20 = [100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900];
const r40 = [
  ...[100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300],
  ...[315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950],
];
const r80 = [
  ...[103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290, 307],
  ...[325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 580, 615, 650, 690, 730, 775, 825, 875, 925, 975],
];
const e24 = [10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91];

/** Evenly spaced on the logarithmic scale, with three digits; 920 is an exception in the standard's rounding. */
function evenly(count: number): readonly number[] {
  return Array.from({ length: count }, (_, step) => Math.round(100 * 10 ** (step / count))).map((each) =>
    each === 919 ? 920 : each,
  );
}

export const series: Readonly<Record<string, readonly number[]>> = {
  R5: r5,
  R10: r10,
  R20: r20,
  R40: r40,
  R80: [...r40, ...r80].sort((left, right) => left - right),
  '1-2-5': [10, 20, 50],
  E6: e24.filter((_, index) => index % 4 === 0),
  E12: e24.filter((_, index) => index % 2 === 0),
  E24: e24,
  E48: evenly(48),
  E96: evenly(96),
  E192: evenly(192),
};

export const granularities: readonly string[] = [...Object.keys(series), 'POWERSOF2'];
