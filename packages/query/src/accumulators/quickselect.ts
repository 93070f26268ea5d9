/** Finds the number at one position of the ascending order without sorting everything (Hoare's selection); reorders the others. */

/** @param numbers without NaN. @param rank from 0. */
export function quickselect(numbers: Float64Array, rank: number): number {
  let [from, to] = [0, numbers.length - 1];
  // Allows twice as many halvings as a sort needs. If an adversarial order needs more, the numbers are sorted.
  for (let left = 2 * Math.ceil(Math.log2(numbers.length + 1)); from < to; left--) {
    if (left < 0 || to - from < 32) {
      numbers.subarray(from, to + 1).sort();
      break;
    }
    const pivot = middleOf(numbers[from]!, numbers[(from + to) >> 1]!, numbers[to]!);
    let [low, high] = [from, to];
    while (low <= high) {
      while (numbers[low]! < pivot) low++;
      while (numbers[high]! > pivot) high--;
      if (low > high) break;
      const moved = numbers[low]!;
      numbers[low++] = numbers[high]!;
      numbers[high--] = moved;
    }
    if (rank <= high) to = high;
    else if (rank >= low) from = low;
    else break;
  }
  const found = numbers[rank]!;
  return found === 0 ? zeroAt(numbers, rank) : found;
}

function middleOf(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** -0 comes before 0, although neither is less. */
function zeroAt(numbers: Float64Array, rank: number): number {
  let before = 0;
  for (const number of numbers) if (number < 0 || Object.is(number, -0)) before++;
  return rank < before ? -0 : 0;
}
