import type { ComponentChildren } from 'preact';
import { formatNumber } from '../format.ts';

interface ChartFrameProps {
  /** A description of the chart. */
  label: string;
  /** The size of the drawing. */
  width: number;
  height: number;
  /** The value at its top. */
  most: number;
  /** Its first and last day. */
  from: string;
  to: string;
  children: ComponentChildren;
  caption: ComponentChildren;
}

/** A chart over days, with its scale, its first and last day, and a caption. */
export function ChartFrame(props: ChartFrameProps) {
  const { label, width, height, most, from, to, children, caption } = props;
  return (
    <figure class="chart">
      <div class="chart-scale" aria-hidden="true">
        <span>{formatNumber(most)}</span>
        <span>0</span>
      </div>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {children}
      </svg>
      <div class="chart-days" aria-hidden="true">
        <span>{from}</span>
        <span>{to}</span>
      </div>
      <figcaption>{caption}</figcaption>
    </figure>
  );
}
