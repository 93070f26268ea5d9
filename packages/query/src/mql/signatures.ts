/** How many arguments the positional operators take: at least, at most. */

const any: number = Number.POSITIVE_INFINITY;

export const arities: Readonly<Record<string, readonly [number, number]>> = {
  $abs: [1, 1],
  $add: [0, any],
  $allElementsTrue: [1, 1],
  $and: [0, any],
  $anyElementTrue: [1, 1],
  $arrayElemAt: [2, 2],
  $arrayToObject: [1, 1],
  $ceil: [1, 1],
  $cmp: [2, 2],
  $concat: [0, any],
  $concatArrays: [0, any],
  $divide: [2, 2],
  $eq: [2, 2],
  $first: [1, 1],
  $floor: [1, 1],
  $gt: [2, 2],
  $gte: [2, 2],
  $ifNull: [2, any],
  $in: [2, 2],
  $indexOfArray: [2, 4],
  $isArray: [1, 1],
  $isNumber: [1, 1],
  $last: [1, 1],
  $lt: [2, 2],
  $lte: [2, 2],
  $mergeObjects: [0, any],
  $mod: [2, 2],
  $multiply: [0, any],
  $ne: [2, 2],
  $not: [1, 1],
  $objectToArray: [1, 1],
  $or: [0, any],
  $pow: [2, 2],
  $range: [2, 3],
  $reverseArray: [1, 1],
  $round: [1, 2],
  $setDifference: [2, 2],
  $setEquals: [2, any],
  $setIntersection: [0, any],
  $setIsSubset: [2, 2],
  $setUnion: [0, any],
  $size: [1, 1],
  $slice: [2, 3],
  $sqrt: [1, 1],
  $strLenCP: [1, 1],
  $substrCP: [3, 3],
  $subtract: [2, 2],
  $toBool: [1, 1],
  $toDate: [1, 1],
  $toDouble: [1, 1],
  $toInt: [1, 1],
  $toLong: [1, 1],
  $toLower: [1, 1],
  $toString: [1, 1],
  $toUpper: [1, 1],
  $trunc: [1, 2],
  $type: [1, 1],
};

/** The codes of operators that have one of their own for a wrong number of arguments. */
export const arityCodes: Readonly<Record<string, number>> = { $ifNull: 1257300, $setEquals: 17045 };

/** Operators of the language that this version does not run: refused by name, unlike those that do not exist. */
export const laterOperators: ReadonlySet<string> = new Set(
  `acos acosh asin asinh atan atan2 atanh avg binarySize bitAnd bitNot bitOr bitXor
   bsonSize convert cos cosh dateAdd dateDiff dateFromParts dateFromString dateSubtract dateToParts degreesToRadians
   exp firstN indexOfBytes indexOfCP isoDayOfWeek isoWeek isoWeekYear lastN ln log log10 ltrim max
   maxN median min minN percentile radiansToDegrees rand regexFind regexFindAll regexMatch
   replaceAll replaceOne rtrim sampleRate sigmoid sin
   sinh split stdDevPop stdDevSamp strLenBytes strcasecmp substr substrBytes sum tan tanh toDecimal toObjectId toUUID trim
   tsIncrement tsSecond week `
    .split(/\s+/)
    .map((name) => `$${name}`),
);
