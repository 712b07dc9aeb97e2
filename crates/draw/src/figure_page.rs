//! A page of several figures.

use crate::Image;
use crate::canvas::Canvas;
use crate::colour::{INK, PAPER};
use crate::text::Font;
use dermis_geometry::Vec2;

/// A page of images in rows, each with a caption.
#[derive(Clone, Debug)]
pub struct FigurePage {
    columns: usize,
    cells: Vec<(Image, String)>,
    title: String,
    gap: usize,
    margin: usize,
    captions_above: bool,
}

impl FigurePage {
    /// A page with the given number of images per row.
    pub fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(1),
            cells: Vec::new(),
            title: String::new(),
            gap: 16,
            margin: 16,
            captions_above: false,
        }
    }

    /// Adds an image to the right of the last one, or in a new row when the row is full.
    pub fn image(mut self, image: Image, caption: impl Into<String>) -> Self {
        self.cells.push((image, caption.into()));
        self
    }

    /// Sets the heading of the page.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the gap (px) between images.
    pub fn gap(mut self, gap: usize) -> Self {
        self.gap = gap;
        self
    }

    /// Sets the margin (px) of the page.
    pub fn margin(mut self, margin: usize) -> Self {
        self.margin = margin;
        self
    }

    /// Places captions above the images instead of below.
    pub fn captions_above(mut self) -> Self {
        self.captions_above = true;
        self
    }

    /// Draws the page.
    pub fn render(&self) -> Image {
        const LINE: usize = 18;
        let font = Font::new(13.0).middle();
        let columns = self.columns.min(self.cells.len()).max(1);
        let rows: Vec<&[(Image, String)]> = self.cells.chunks(columns).collect();
        let width_of =
            |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.0.width()).max().unwrap_or(1);
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        let lines = |c: usize, caption: &str| font.wrap(caption, (widths[c] + self.gap / 2) as f64);
        let heights: Vec<(usize, usize)> = rows
            .iter()
            .map(|row| {
                let tallest = row.iter().map(|cell| cell.0.height()).max().unwrap_or(1);
                let max_lines = row.iter().enumerate().map(|(c, cell)| lines(c, &cell.1).len()).max().unwrap_or(0);
                (tallest, if max_lines > 0 { max_lines * LINE + 6 } else { 0 })
            })
            .collect();
        let title_font = Font::new(19.0).bold().middle();
        let (head, title_width) =
            if self.title.is_empty() { (0, 0) } else { (36, title_font.width(&self.title) as usize + 32) };
        let across = widths.iter().sum::<usize>() + self.gap * (columns - 1);
        let width = (across + 2 * self.margin).max(title_width);
        let down = heights.iter().map(|h| h.0 + h.1).sum::<usize>() + self.gap * rows.len().saturating_sub(1);
        let mut page = Image::new(width, down + 2 * self.margin + head, PAPER);
        let mut top = self.margin + head;
        for (row, &(tall, caption_room)) in rows.iter().zip(&heights) {
            let mut left = (width - across) / 2;
            for (c, (image, caption)) in row.iter().enumerate() {
                let x = left + (widths[c] - image.width()) / 2;
                let shift = if self.captions_above { caption_room } else { 0 };
                let y = top + shift + (tall - image.height()) / 2;
                page.blit(image, x as i64, y as i64);
                let first = if self.captions_above { top } else { top + tall + 4 };
                for (i, line) in lines(c, caption).iter().enumerate() {
                    let at = Vec2::new(left as f64 + widths[c] as f64 / 2.0, (first + i * LINE + 14) as f64);
                    Canvas::new(&mut page).text(at, line, font, INK);
                }
                left += widths[c] + self.gap;
            }
            top += tall + caption_room + self.gap;
        }
        let at = Vec2::new(width as f64 / 2.0, (self.margin + 18) as f64);
        Canvas::new(&mut page).text(at, &self.title, title_font, INK);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_stand_in_rows() {
        let [red, green, blue] = [[200, 0, 0], [0, 200, 0], [0, 0, 200]];
        let page = [red, green, blue]
            .into_iter()
            .fold(FigurePage::new(2).gap(5).margin(3), |page, colour| page.image(Image::new(10, 8, colour), ""));
        let image = page.render();
        assert_eq!((image.width(), image.height()), (3 + 10 + 5 + 10 + 3, 3 + 8 + 5 + 8 + 3));
        assert_eq!(image.pixel(3, 3), red);
        assert_eq!(image.pixel(18, 3), green);
        assert_eq!(image.pixel(3, 16), blue);
        assert_eq!(image.pixel(18, 16), PAPER);
    }

    /// A page without images is blank except for its title.
    #[test]
    fn an_empty_page_is_blank_and_as_wide_as_its_title() {
        let dark = |image: &Image| image.pixels().iter().filter(|pixel| pixel[0] < 128).count();
        let blank = FigurePage::new(0).render();
        assert_eq!((blank.height(), dark(&blank)), (32, 0));
        let titled = FigurePage::new(3).title("nothing yet").captions_above().render();
        assert!(dark(&titled) > 50, "{}", dark(&titled));
        let width = Font::new(19.0).bold().width("nothing yet");
        assert!((titled.width() as f64 - width - 32.0).abs() <= 1.0 && titled.height() == 32 + 36);
    }
}
