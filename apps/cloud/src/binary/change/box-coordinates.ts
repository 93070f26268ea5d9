/** Where on a picture a bounding box lies, as it is stored: shares of width and height, and how sure its maker was. */
import type { BoundingBox } from '@platform/proto/platform/app/data/v1/data';

export type BoxCoordinates = Pick<
  BoundingBox,
  'xMinNormalized' | 'yMinNormalized' | 'xMaxNormalized' | 'yMaxNormalized' | 'confidence'
>;

/** JSON, so that every number comes back as it was. */
export function coordinatesText(place: BoxCoordinates): string {
  const { xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence } = place;
  return JSON.stringify([xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence ?? null]);
}

/** Whether the corners are shares that are in the picture, and the confidence, where there is one, is a share, too. */
export function isPlace({
  xMinNormalized,
  yMinNormalized,
  xMaxNormalized,
  yMaxNormalized,
  confidence,
}: BoxCoordinates): boolean {
  const shares = [xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence ?? 0];
  return (
    shares.every((share) => share >= 0 && share <= 1) &&
    xMinNormalized <= xMaxNormalized &&
    yMinNormalized <= yMaxNormalized
  );
}

export function readCoordinates(text: string): BoxCoordinates {
  const [xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence] = JSON.parse(text);
  const corners = { xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized };
  return confidence === null ? corners : { ...corners, confidence };
}
