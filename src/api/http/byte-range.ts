/** Range requests for stored bytes (RFC 9110, sections 13.1.5 and 14). */
import type { Request, Response } from 'express';
import { AppError } from '../../core/lib/errors.ts';
import type { ByteRange, StoredBytes } from '../../jobs/result/results.ts';

/**
 * Sets the headers and the status of a response with these bytes, or with the range that the request asks for.
 * Returns that range; undefined for the whole. A malformed range, several ranges, a range of an older
 * version (`If-Range`), and more last bytes than there are get the whole. Throws `AppError` 416 when no requested byte exists.
 */
export function acceptRange(
  request: Request,
  response: Response,
  { bytes, version }: StoredBytes,
): ByteRange | undefined {
  const tag = `"${version}"`;
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('ETag', tag);
  const condition = request.get('If-Range');
  const isOfVersion = condition === undefined || condition === tag;
  // The parser takes too many last bytes for bytes that do not exist.
  const [, lastBytes = '0'] = /^bytes=-(\d+)$/.exec(request.get('Range') ?? '') ?? [];
  const ranges = isOfVersion && Number(lastBytes) < bytes ? request.range(bytes) : undefined;
  if (ranges === -1) {
    response.setHeader('Content-Range', `bytes */${bytes}`);
    throw new AppError({
      code: 'range_not_satisfiable',
      status: 416,
      message: `Range: the file has ${bytes} bytes, and none in the requested range.`,
    });
  }
  const [range, ...others] = typeof ranges === 'object' && ranges.type === 'bytes' ? ranges : [];
  if (range === undefined || others.length > 0) {
    response.setHeader('Content-Length', String(bytes));
    return undefined;
  }
  const { start, end } = range;
  response.status(206);
  response.setHeader('Content-Range', `bytes ${start}-${end}/${bytes}`);
  response.setHeader('Content-Length', String(end - start + 1));
  return { start, end };
}
